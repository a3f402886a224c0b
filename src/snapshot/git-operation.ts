/**
 * What git is in the middle of in a sandbox: the files that a merge, rebase, cherry-pick, revert, am or bisect keeps in
 * the worktree's git directory until it is done. They are captured whole, so that a restore can bring the sandbox back
 * into the middle of it. In a repository with reftables some of them are refs; those are not seen.
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

/** The first that is there names the operation. */
const SIGNS: readonly (readonly [file: string, name: string])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

/** Everything that belongs to one of them; directories whole. */
const KEPT = [
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

/** Files whose content is the name of a commit that the operation needs. */
const NAMING =
  /^((MERGE|CHERRY_PICK|REVERT|REBASE)_HEAD|MERGE_AUTOSTASH|rebase-(merge|apply)\/(orig-head|onto|autostash))$/;

/** Undefined where git is in the middle of nothing. */
export function readOperation(gitDir: string): Operation | undefined {
  const name = SIGNS.find(([file]) => existsSync(join(gitDir, file)))?.[1];
  return name === undefined ? undefined : { name, files: operationFiles(gitDir) };
}

function operationFiles(gitDir: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const take = (path: string) => {
    try {
      if (!statSync(join(gitDir, path)).isDirectory()) files.set(path, readFileSync(join(gitDir, path)));
      else for (const name of readdirSync(join(gitDir, path)).sort()) take(`${path}/${name}`);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error; // git goes on with it meanwhile
    }
  };
  for (const path of KEPT) take(path);
  return files;
}

/** Of the files' content, so that a change of it is a change of the state. */
export function operationDigest({ files }: Operation): string {
  const hash = createHash('sha1');
  for (const [path, bytes] of files) hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  return hash.digest('hex');
}

/** Commits without which the operation cannot go on. */
export function commitsOf({ files }: Operation): string[] {
  const named = [...files].filter(([path]) => NAMING.test(path));
  return named.flatMap(([, bytes]) => bytes.toString().match(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/gm) ?? []);
}

/** Where they stand in a git directory, each a file or a directory. */
export function operationPaths(gitDir: string): string[] {
  return KEPT.map((name) => join(gitDir, name)).filter((path) => existsSync(path));
}
