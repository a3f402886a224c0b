/** The files of an attached folder that git will ignore after a restore: by the `.gitignore` files of the snapshot. */

import { existsSync } from 'node:fs';
import ignore, { type Ignore } from 'ignore';
import { displayPath } from '../../disk/path-bytes.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import { LINK } from '../../git/modes.ts';
import { readObject } from '../../git/objects/object-reader.ts';
import { inDirectory } from '../../git/run/git.ts';
import { askGitSync } from '../../git/run/run-sync.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Session } from '../../session/session.ts';
import { parentDirectories, readSnapshotTree } from '../../snapshot/tree.ts';

const NAME = '/.gitignore';
const INCLUDE = 'sandbox/.worktreeinclude';

/** `path` is relative to the session folder, one byte per character. */
export type IgnoresFile = (path: string) => boolean;

/** It counts the rules of each repository in the folder for that repository alone, and no tracked file as ignored. */
export async function ignoredByRestored(
  { repository, record }: Session,
  commit: string,
): Promise<IgnoresFile> {
  const { git } = repository;
  const files = await readSnapshotTree(git, commit);
  const textOf = async (oid: string) => (await readObject(git, oid))?.content.toString() ?? '';
  const rulesOf = new Map<string, Rules>();
  for (const [path, { oid, mode }] of files) {
    if (mode === LINK || !path.endsWith(NAME)) continue;
    const directory = path.slice(0, -NAME.length);
    rulesOf.set(directory, { matcher: matcherOf(await textOf(oid)), below: `${directory}/` });
  }
  if (rulesOf.size === 0) return () => false;
  const top = record.checkout ?? record.sandbox;
  const include = gitDirOf(top) === undefined ? undefined : files.get(INCLUDE);
  const included =
    include && new Map([['sandbox', { matcher: matcherOf(await textOf(include.oid)), below: 'sandbox/' }]]);
  const tracked = new Map<string, ReadonlySet<string>>();
  const isTracked = (root: string, path: string): boolean => {
    const listed = tracked.get(root) ?? trackedFiles(repository, onDisk(top, root));
    tracked.set(root, listed);
    return listed.has(path.slice(root.length + 1));
  };
  const isRepository = (directory: string) => existsSync(`${onDisk(top, directory)}/.git`);
  return (path) => {
    const root = matchingRoot(path, rulesOf, isRepository);
    if (root === undefined || isTracked(root, path)) return false;
    return included === undefined || matchingRoot(path, included, () => false) === undefined;
  };
}

/** The repository whose rules name a file, or a directory above it. Undefined if none does. */
function matchingRoot(
  path: string,
  rulesOf: ReadonlyMap<string, Rules>,
  isRepository: (directory: string) => boolean,
): string | undefined {
  let root = '';
  let rules: Rules[] = [];
  for (const directory of parentDirectories(path).reverse()) {
    if (isIgnored(directory, true, rules)) return root;
    if (root === '' || isRepository(directory)) {
      root = directory;
      rules = [];
    }
    const own = rulesOf.get(directory);
    if (own !== undefined) rules = [own, ...rules];
  }
  return isIgnored(path, false, rules) ? root : undefined;
}

function trackedFiles({ git }: Repository, root: string): ReadonlySet<string> {
  if (gitDirOf(root) === undefined) return new Set();
  const listed = askGitSync(inDirectory(git, root), ['ls-files', '-z']);
  return new Set(listed?.toString('latin1').split('\0'));
}

/** As Node has it. */
function onDisk(top: string, path: string): string {
  return `${top}${Buffer.from(path.slice('sandbox'.length), 'latin1').toString()}`;
}

/** The patterns of a `.gitignore` file, read as gitignore(5) says. */
interface Rules {
  readonly matcher: Ignore;
  /** The directory that the patterns are relative to, with a slash at its end; empty at the top. */
  readonly below: string;
}

/** Without `core.ignoreCase`. */
function matcherOf(text: string): Ignore {
  return ignore({ ignorecase: false, allowRelativePaths: true }).add(text);
}

/** `rules`: the deepest first. Ask about a directory before its entries. */
function isIgnored(path: string, isDirectory: boolean, rules: readonly Rules[]): boolean {
  for (const { matcher, below } of rules) {
    const name = displayPath(path.slice(below.length)) + (isDirectory ? '/' : '');
    const { ignored, unignored } = matcher.test(name);
    if (ignored || unignored) return ignored;
  }
  return false;
}
