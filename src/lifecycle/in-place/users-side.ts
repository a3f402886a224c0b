/**
 * The user's side of a session in place, as it was at the beginning: what is not committed, every other file that git
 * does not track, and the repositories inside. The end decides by this list. It never asks git which files are ignored
 * before it has brought them back: the agent may have changed the rules.
 */
import { lstatSync } from 'node:fs';
import { readStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { AgtError } from '../../errors.ts';
import { stashRef } from '../../filter/agent-refs.ts';
import { ASSUME_UNCHANGED, type IndexEntry, parseIndex, SKIP_WORKTREE } from '../../git/files/index-file.ts';
import { readObject } from '../../git/objects/object-reader.ts';
import { type Git, gitText, runGit } from '../../git/run/git.ts';
import { statCacheFile } from '../../layout.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { readCapturedIndex } from '../../snapshot/format.ts';
import { readSnapshotMetadata } from '../../snapshot/manifest.ts';
import { parentDirectories, readSnapshotTree } from '../../snapshot/tree.ts';
import type { DirtyPath, InPlace } from './checkout.ts';
import { hasOwnWork, lookAtRepository, type NestedRepository } from './nested.ts';

/** Paths are relative to the checkout and hold one byte per character. */
export interface UsersSide {
  /** The first snapshot: the exact bytes of every file, and the index. */
  readonly first: string;
  /** Tracked files that differ from HEAD, in the index or on disk; no submodules. */
  readonly changed: readonly string[];
  readonly untracked: readonly string[];
  /** All other files that git does not track, with their mtime in seconds. */
  readonly ignored: ReadonlyMap<string, number>;
  /** Tracked files that differ from the index, marked skip-worktree or assume-unchanged. The agent has them as they are. */
  readonly hidden: readonly string[];
  /** Submodules too. */
  readonly repositories: readonly NestedRepository[];
  readonly settings: Settings;
  /** The agent works on with what is not committed: none of it is set aside. */
  readonly isGiven: boolean;
}

/** In the tree of a commit, which the commit of what is set aside has as its last parent. */
const FILE = 'users-side.json';
const PREFIX = 'sandbox/';

/** The caller has just captured the checkout. No content is read: the stat cache has the times. */
export async function listUsersSide(
  place: InPlace,
  first: string,
  dirty: readonly DirtyPath[],
  isGiven: boolean,
): Promise<UsersSide> {
  const { git, session, record, checkout } = place;
  const { skipped } = await readSnapshotMetadata(git, first);
  const inside = skipped.filter((path) => path.startsWith(PREFIX) && path.endsWith('/.git'));
  const paths = inside.map((path) => path.slice(PREFIX.length, -'/.git'.length));
  const repositories = await Promise.all(
    paths.map(async (path) => {
      const found = await lookAtRepository(git, checkout, path);
      return { ...found, isChanged: await hasOwnWork(place, found) };
    }),
  );
  const index = await indexOf(git, first);
  const tracked = new Set(index.map(({ path }) => path));
  const others = new Set([...dirty.map(({ path }) => path), ...paths]);
  const files = readStatCache(statCacheFile(session.repository.agtDir, record.session_id))?.files;
  const ignored = new Map<string, number>();
  for (let row = 0; files !== undefined && row < files.length; row++) {
    const path = files.path(row);
    if (!path.startsWith(PREFIX)) continue;
    const own = path.slice(PREFIX.length);
    if (tracked.has(own) || others.has(own) || parentDirectories(own).some((one) => others.has(one)))
      continue;
    const mtimeMs = files.mtimeMs(row);
    ignored.set(own, (Number.isNaN(mtimeMs) ? mtimeOnDisk(record, path) : mtimeMs) / 1000);
  }
  const untracked = dirty.filter(({ isUntracked }) => isUntracked).map(({ path }) => path);
  const changed = dirty.filter(({ isUntracked }) => !isUntracked).map(({ path }) => path);
  // git says something of a file that is there in spite of a sparse checkout.
  const hidden = (await hiddenChanges(git, first, index)).filter((path) => !others.has(path));
  const settings = await readSettings(git);
  return { first, changed, untracked, ignored, hidden, repositories, settings, isGiven };
}

/** The stat cache has no times of files that changed within the last tick of the clock. */
function mtimeOnDisk(record: SessionRecord, path: string): number {
  const name = Buffer.from(`${sessionFolder(record)}/`).toString('latin1') + path;
  return lstatSync(Buffer.from(name, 'latin1'), { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}

export async function indexOf(git: Git, snapshot: string): Promise<IndexEntry[]> {
  const index = await readCapturedIndex(git, snapshot);
  if (index === undefined || index.content.length === 0) return [];
  return parseIndex(index.content, snapshot.length / 2).entries;
}

/** git says nothing of a change in a file that is marked so. */
async function hiddenChanges(git: Git, first: string, index: readonly IndexEntry[]): Promise<string[]> {
  const marked = index.filter(({ flags }) => (flags & (ASSUME_UNCHANGED | SKIP_WORKTREE)) !== 0);
  if (marked.length === 0) return [];
  const files = await readSnapshotTree(git, first);
  return marked
    .filter(({ path, oid }) => (files.get(`sandbox/${path}`)?.oid ?? oid) !== oid)
    .map(({ path }) => path);
}

/** @returns a tree that holds the list, and the indexes that it names. */
export async function storeUsersSide(git: Git, side: UsersSide): Promise<string> {
  // Each byte of a path is a character here: the list comes back as it was, whatever the bytes are.
  const list = { ...side, ignored: [...side.ignored] };
  const blob = await gitText(git, ['hash-object', '-w', '--stdin'], { input: JSON.stringify(list) });
  const indexes = new Set(side.repositories.flatMap(({ index }) => index ?? []));
  const entries = [
    `100644 blob ${blob}\t${FILE}\0`,
    ...Array.from(indexes, (oid) => `100644 blob ${oid}\tindex-${oid}\0`),
  ];
  return gitText(git, ['mktree', '-z'], { input: entries.join('') });
}

/** Undefined before agt has set anything aside. */
export async function readUsersSide(
  git: Git,
  { session_id: id }: SessionRecord,
): Promise<UsersSide | undefined> {
  const ref = stashRef(id);
  const found = await readObject(git, `${ref}^5:${FILE}`);
  if (found === undefined) return undefined;
  const list = JSON.parse(found.content.toString());
  return { ...list, ignored: new Map(list.ignored) };
}

/** For a session that agt has begun. @throws AgtError if somebody has deleted the ref. */
export async function requireUsersSide(git: Git, record: SessionRecord): Promise<UsersSide> {
  const side = await readUsersSide(git, record);
  if (side !== undefined) return side;
  const id = record.session_id;
  throw new AgtError(`agt's own ref is missing: ${stashRef(id)}`, {
    hints: [
      `it names what was yours before the session; ${findUsersSide(id)}`,
      `then: agt git update-ref ${stashRef(id)} <commit>`,
    ],
  });
}

/** A command for the shell. The commit is in no history, unless a snapshot has kept it. */
export function findUsersSide(id: string): string {
  const commits =
    "{ agt git rev-list --all; agt git fsck --no-reflogs --unreachable | awk '/commit/ {print $3}'; }";
  const named = `agt git log --stdin --no-walk --format='%H %s' | grep 'uncommitted work before session ${id}$'`;
  return `find its commit: ${commits} | ${named}`;
}

/**
 * Settings of the repository that belong to the user's side: which submodules are in use, whether the checkout is sparse,
 * and where it is. All others stay as the agent leaves them. In the order of the file; a name can be there more than once.
 */
type Settings = readonly (readonly [name: string, value: string])[];

const OF_CHECKOUT = /^core\.(sparsecheckout|bare$|worktree$)/;

async function readSettings(git: Git): Promise<Settings> {
  const args = ['config', '--local', '-z', '--get-regexp', `^submodule\\.|${OF_CHECKOUT.source}`];
  const { exitCode, stdout } = await runGit(git, args);
  if (exitCode !== 0) return [];
  const entries = stdout.toString().split('\0').slice(0, -1);
  return entries.map((entry) => {
    const [name = '', ...value] = entry.split('\n');
    return [name, value.join('\n')];
  });
}

/** A submodule that the agent has added stays in use. */
export async function putSettingsBack(git: Git, before: Settings): Promise<void> {
  const now = await readSettings(git);
  const valuesIn = (settings: Settings, wanted: string) =>
    settings.flatMap(([name, value]) => (name === wanted ? [value] : []));
  for (const name of new Set([...before, ...now].map(([one]) => one))) {
    const [wanted, found] = [valuesIn(before, name), valuesIn(now, name)];
    if (String(wanted) === String(found) || (!OF_CHECKOUT.test(name) && found.length > 0)) continue;
    if (found.length > 0) await gitText(git, ['config', '--local', '--unset-all', name]);
    for (const value of wanted) await gitText(git, ['config', '--local', '--add', name, value]);
  }
}
