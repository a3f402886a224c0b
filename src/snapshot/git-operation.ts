/**
 * A git operation that is in progress in a sandbox: merge, rebase, cherry-pick, revert, am or bisect. git keeps its files
 * in the worktree's git directory until it is done. agt captures all of them, so that a restore can go back into the
 * middle of the operation. In a repository with reftables some are refs, which agt does not see.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../errors.ts';

export interface Operation {
  readonly name: string;
  /** By path relative to the worktree's git directory. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** The first one that exists tells which operation it is. */
const SIGNS: readonly (readonly [file: string, name: string])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

/** The files and directories of all operations. */
const OPERATION_FILES = [
  'rebase-merge',
  'rebase-apply',
  'sequencer',
  'MERGE_HEAD',
  'MERGE_MODE',
  'MERGE_MSG',
  'MERGE_AUTOSTASH',
  'AUTO_MERGE',
  'SQUASH_MSG',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'REBASE_HEAD',
  'BISECT_LOG',
  'BISECT_NAMES',
  'BISECT_START',
  'BISECT_TERMS',
  'BISECT_ANCESTORS_OK',
  'BISECT_EXPECTED_REV',
];

/** Files that hold names of commits that the operation needs. */
const COMMIT_FILES =
  /^((MERGE|CHERRY_PICK|REVERT|REBASE)_HEAD|MERGE_AUTOSTASH|rebase-(merge|apply)\/(orig-head|onto|autostash))$/;

/** Undefined if none is in progress. */
export function readOperation(gitDir: string): Operation | undefined {
  const name = SIGNS.find(([file]) => existsSync(join(gitDir, file)))?.[1];
  return name === undefined ? undefined : { name, files: readOperationFiles(gitDir) };
}

function readOperationFiles(gitDir: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const read = (path: string) => {
    try {
      if (!statSync(join(gitDir, path)).isDirectory()) files.set(path, readFileSync(join(gitDir, path)));
      else for (const name of readdirSync(join(gitDir, path)).sort()) read(`${path}/${name}`);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error; // git may continue the operation meanwhile
    }
  };
  for (const path of OPERATION_FILES) read(path);
  return files;
}

/** Changes with the content of any of the files. */
export function operationDigest({ files }: Operation): string {
  const hash = createHash('sha1');
  for (const [path, bytes] of files) hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  return hash.digest('hex');
}

/** Commits that the operation needs in order to continue. */
export function commitsOf({ files }: Operation): string[] {
  return [...files]
    .filter(([path]) => COMMIT_FILES.test(path))
    .flatMap(([, bytes]) => bytes.toString().match(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/gm) ?? []);
}

/** The files and directories of an operation that exist in a git directory. */
export function operationPaths(gitDir: string): string[] {
  return OPERATION_FILES.map((name) => join(gitDir, name)).filter((path) => existsSync(path));
}
