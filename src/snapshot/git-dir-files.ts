/**
 * The files that git keeps for one worktree alone, in the worktree's git directory, beside the index and HEAD: those of a
 * merge, rebase, cherry-pick, revert, am or bisect in progress, messages that are prepared, refs of the worktree, and its
 * settings. agt captures all of them. In a repository with reftables some are refs, which agt does not see.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { insideCheck } from '../disk/is-inside.ts';
import { systemPath } from '../disk/long-path.ts';
import { readNoFollow } from '../disk/read-file.ts';
import { attempt, errorCode, failureReason, isAgtError } from '../errors.ts';
import { openHash } from '../git/objects/hash.ts';

/** All paths are relative to the git directory, one byte per character. */
export interface GitDirFiles {
  /** The operation in progress; null if there is none. */
  readonly operation: string | null;
  readonly files: ReadonlyMap<string, Buffer>;
  /** Links, named pipes and others that agt does not read. */
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[];
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

/** Between two picks, this file alone tells that there are more to come. */
const SEQUENCE = 'sequencer/todo';

/** The files and directories of all operations. */
const OPERATION_FILES: readonly string[] = [
  'rebase-merge',
  'rebase-apply',
  'sequencer',
  'MERGE_HEAD',
  'MERGE_MODE',
  'MERGE_MSG',
  'MERGE_AUTOSTASH',
  'MERGE_RR',
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
  'NOTES_MERGE_PARTIAL',
  'NOTES_MERGE_REF',
  'NOTES_MERGE_WORKTREE',
];

export const GIT_DIR_FILES: readonly string[] = [
  ...OPERATION_FILES,
  'ORIG_HEAD',
  'config.worktree',
  'info/sparse-checkout',
  'refs/bisect',
  'refs/rewritten',
  'refs/worktree',
  'logs/refs/worktree',
];

/** Files that hold names of commits that git needs in order to continue or to go back. */
const COMMIT_FILES =
  /^((MERGE|CHERRY_PICK|REVERT|REBASE|ORIG)_HEAD|MERGE_AUTOSTASH|rebase-(merge|apply)\/(orig-head|onto|autostash)|sequencer\/(head|abort-safety)|refs\/.*)$/;

/** The old commit and the new one. */
export const REFLOG_LINE = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) /gm;

/** In bytes. git's own are far smaller, and agt holds all of them in memory. */
const LARGEST = 256 * 1024 * 1024;

export function readGitDirFiles(gitDir: string): GitDirFiles {
  const present = new Set(readdirSync(gitDir));
  const found = readFiles(
    gitDir,
    GIT_DIR_FILES.filter((path) => present.has(path.replace(/\/.*/, ''))),
  );
  return { operation: operationIn(present, found.files), ...found };
}

function operationIn(present: ReadonlySet<string>, files: ReadonlyMap<string, Buffer>): string | null {
  const name = SIGNS.find(([file]) => present.has(file))?.[1];
  const sequence = files.get(SEQUENCE);
  if (name !== undefined || sequence === undefined) return name ?? null;
  return sequence.toString().startsWith('revert') ? 'revert' : 'cherry-pick';
}

/** The operation in progress, without reading the other files; null if there is none or agt cannot tell. */
export function readOperation(gitDir: string): string | null {
  const found = attempt(() => {
    const present = new Set(readdirSync(gitDir));
    return operationIn(present, readFiles(gitDir, present.has('sequencer') ? [SEQUENCE] : []).files);
  });
  return found ?? null;
}

/** `wanted`: files, and directories with all that is in them. */
export function readFiles(
  gitDir: string,
  wanted: readonly string[],
): Pick<GitDirFiles, 'files' | 'unreadable'> {
  const directory = Buffer.from(gitDir).toString('latin1');
  const rules = { largest: LARGEST, isInside: insideCheck(directory) };
  const files = new Map<string, Buffer>();
  const unreadable: { path: string; reason: string }[] = [];
  const read = (path: string): void => {
    try {
      const absolute = `${directory}/${path}`;
      const stat = lstatSync(systemPath(absolute), { throwIfNoEntry: false });
      if (stat?.isDirectory())
        for (const name of readdirSync(systemPath(absolute), 'latin1').sort()) read(`${path}/${name}`);
      else if (stat !== undefined) {
        const bytes = readNoFollow(absolute, rules);
        if (bytes !== undefined) files.set(path, bytes);
      }
    } catch (error) {
      // git may continue the operation meanwhile.
      if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return;
      const reason = isAgtError(error) ? error.message : failureReason('read', error);
      unreadable.push({ path, reason });
    }
  };
  for (const path of wanted) read(path);
  return { files, unreadable };
}

/** Changes with the content of any of the files. */
export function gitDirDigest({ files }: Pick<GitDirFiles, 'files'>): string {
  const hash = openHash('sha1');
  for (const [path, bytes] of files) hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  return hash.digest();
}

/** Commits that the files name; those of reflogs are the entries of the session's stash. */
export function commitsOf({ files }: GitDirFiles): string[] {
  const named = [...files].flatMap(([path, bytes]) => {
    if (path.startsWith('logs/'))
      return [...bytes.toString('latin1').matchAll(REFLOG_LINE)].map(([, , oid]) => oid ?? '');
    return COMMIT_FILES.test(path) ? (bytes.toString().match(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/gm) ?? []) : [];
  });
  return [...new Set(named)];
}

/** The tree of a merge with its conflicts in it, which nothing but a file names. */
export function autoMergeTree({ files }: GitDirFiles): string | undefined {
  return /^[0-9a-f]{40,64}$/.exec(files.get('AUTO_MERGE')?.toString().trim() ?? '')?.[0];
}
