/**
 * The undo of one thing: what some steps changed is taken back by a merge in memory, and all that came later or is of
 * somebody else stays. For each of them, newest first, base is the file after it, theirs the file before it, and ours the
 * file as it is; each of these may have another name. The result is a snapshot that a restore goes to.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINK } from '../../git/modes.ts';
import { commitOid, readCommits, storeCommits } from '../../git/objects/commits.ts';
import { findObjects, readObjects } from '../../git/objects/object-reader.ts';
import {
  type DiffEntry,
  diffTrees,
  entryOf,
  findRenames,
  mayHaveRenames,
} from '../../git/objects/raw-diff.ts';
import { editTree, withIndex, withoutIndex } from '../../git/objects/scratch-index.ts';
import { type ScratchObjects, withScratchObjects } from '../../git/objects/scratch-objects.ts';
import {
  FSYNC_ARGS,
  fieldsOf,
  type Git,
  gitAnswer,
  gitBytes,
  gitText,
  isAncestor,
  runGit,
} from '../../git/run/git.ts';
import type { Session } from '../../session/session.ts';
import { isUnder, TOP_FOLDERS } from '../../snapshot/folders.ts';
import { parseSnapshot, type Snapshot } from '../../snapshot/history.ts';
import { diffSnapshots, parentDirectories, readSnapshotTree, sandboxTree } from '../../snapshot/tree.ts';
import { decodePath, encodePath } from '../../snapshot/tree-names.ts';
import { listIgnored } from './ignored-files.ts';

/** How a conflict ends: `ours` keeps what is there now, `markers` writes both, as git does. */
export type OnConflict = 'refuse' | 'ours' | 'markers';

export interface TakeBackRequest {
  /** Newest first: each with the snapshot before it as `previous`. */
  readonly spans: readonly Snapshot[];
  /** In the session folder; one byte per character. Undefined: all files. */
  readonly paths: readonly string[] | undefined;
  readonly onConflict: OnConflict;
  /** For markers: `turn 3`. */
  readonly name: string;
}

export interface TakenBack {
  /** As the folder is to be; undefined if nothing is to change. */
  readonly wanted: Snapshot | undefined;
  readonly paths: readonly string[];
  readonly conflicts: readonly string[];
  /** Those of them that the steps have solved: before, the file had the markers of a conflict. */
  readonly solved: readonly string[];
  /** Those of them that stay as they are. */
  readonly kept: readonly string[];
  /** New files that git ignores in an attached folder. A restore deletes none. */
  readonly staying: readonly string[];
  /** The steps have changed none of the files. */
  readonly isNothing: boolean;
}

type Version = DiffEntry['before'];

/** `tip`: the snapshot that is as the folder. */
export async function planTakeBack(
  session: Session,
  tip: Snapshot,
  request: TakeBackRequest,
): Promise<TakenBack> {
  const { git } = session;
  return withScratchObjects(session.repository, async (scratch) => {
    const now = new Map<string, Version>();
    /** Names of now, by those at the tip. */
    const moved = new Map<string, string>();
    const [conflicts, solved] = [new Set<string>(), new Set<string>()];
    let isNothing = true;
    for (const span of request.spans) {
      const changes = await changesOf(git, span, scratch);
      const later = await changesSince(git, span.commit, tip.commit);
      const atTip = (path: string, otherwise: Version) =>
        later.entries.has(path) ? later.entries.get(path)?.after : otherwise;
      for (const { path, before, after: base } of changes.entries.values()) {
        const from = changes.oldNames.get(path) ?? path;
        const tipPath = later.names.get(path) ?? path;
        const names = [path, from, tipPath];
        const isMeant = request.paths?.some((one) => names.some((name) => isUnder(name, [one]))) ?? true;
        if (!isMeant || changes.newNames.has(path)) continue;
        isNothing = false;
        const theirs = from === path ? before : changes.entries.get(from)?.before;
        const there = atTip(tipPath, base);
        const nowPath = moved.get(tipPath) ?? tipPath;
        const ours = now.has(nowPath) ? now.get(nowPath) : there;
        const merged = await mergeVersions(git, scratch, { ours, base, theirs }, request);
        const isSolved = !merged.isConflict && (await bringsMarkers(git, ours, merged.version));
        const version = isSolved && request.onConflict === 'ours' ? ours : merged.version;
        const isRenamed = from !== path;
        const isTaken = (now.has(from) ? now.get(from) : atTip(from, undefined)) !== undefined;
        const isInTheWay = isRenamed && nowPath !== from && (nowPath !== path || isTaken);
        const to = isRenamed && !isInTheWay ? from : nowPath;
        if (isSolved) solved.add(nowPath);
        if (isSolved || merged.isConflict || isInTheWay) conflicts.add(nowPath);
        if (to !== nowPath) {
          now.set(nowPath, undefined);
          moved.set(tipPath, to);
        }
        if (to === tipPath && entryOf(version) === entryOf(there)) now.delete(to);
        else now.set(to, version);
      }
    }
    for (const path of await obstructed(git, tip, now)) {
      conflicts.add(path);
      now.delete(path);
    }
    const isIgnored = await listIgnored(session, tip.commit);
    const staying = [...now].flatMap(([path, v]) => (v === undefined && isIgnored?.(path) ? path : []));
    for (const path of staying) now.delete(path);
    const isRefused = conflicts.size > 0 && request.onConflict === 'refuse';
    const wanted = isRefused || now.size === 0 ? undefined : await snapshotWith(git, scratch, tip, now);
    const kept = [...conflicts].filter((path) => !now.has(path));
    const all = { conflicts: [...conflicts], solved: [...solved], kept, staying };
    return { wanted, paths: [...now.keys()], ...all, isNothing };
  });
}

/** Files to come back where now a directory has others, or below what is a file now. */
export async function obstructed(
  git: Git,
  { commit }: Pick<Snapshot, 'commit'>,
  files: ReadonlyMap<string, Version>,
): Promise<string[]> {
  const coming = [...files].flatMap(([path, version]) => (version === undefined ? [] : [path]));
  const isGoing = (path: string) => files.has(path) && files.get(path) === undefined;
  const found: string[] = [];
  for (const path of coming) {
    const names = [path, ...parentDirectories(path)].map((one) => `${commit}:${encodePath(one)}`);
    const [own, ...above] = await findObjects(git, names);
    const inside = own?.type === 'tree' ? await readSnapshotTree(git, own.oid) : new Map();
    const isFull = [...inside.keys()].some((name) => !isGoing(`${path}/${name}`));
    const isBelow = parentDirectories(path).some((one, i) => above[i]?.type === 'blob' && !isGoing(one));
    if (isFull || isBelow) found.push(path);
  }
  return found;
}

interface Changes {
  readonly entries: ReadonlyMap<string, DiffEntry>;
  /** Files that git takes for renamed ones, by their other name. */
  readonly oldNames: ReadonlyMap<string, string>;
  readonly newNames: ReadonlyMap<string, string>;
}

async function changesOf(
  git: Git,
  { previous, commit, parents }: Snapshot,
  scratch: Pick<ScratchObjects, 'dir'>,
): Promise<Changes> {
  if (previous !== undefined) {
    const changes = await changesBetween(git, previous, commit);
    return { ...changes, entries: await withoutArrived(git, changes.entries, { previous, commit }, scratch) };
  }
  // The commit before the first snapshot has the files of the sandbox at its top.
  return changesBetween(git, `${parents[0]}^{tree}`, await sandboxTree(git, commit), 'sandbox/');
}

/** Without the commits of the user branch that a merge or a rebase has brought: they are of others. */
async function withoutArrived(
  git: Git,
  entries: Changes['entries'],
  { previous, commit }: Record<'previous' | 'commit', string>,
  scratch: Pick<ScratchObjects, 'dir'>,
): Promise<Changes['entries']> {
  const contents = await readCommits(git, [previous, commit]);
  const [before, after] = [previous, commit].map((one) => parseSnapshot(one, contents.get(one) ?? ''));
  const heads = [before?.head, after?.head].filter((head) => head !== undefined);
  const branch = after?.parents[1];
  if (branch === undefined || heads.length < 2 || before?.head === after?.head) return entries;
  const [from, to] = await Promise.all(heads.map((head) => gitAnswer(git, ['merge-base', head, branch])));
  if (from === undefined || to === undefined || !(await isAncestor(git, from, to))) return entries;
  const left = new Map(entries);
  for (const { path, ...arrived } of await diffTrees(git, from, to, { countLines: false })) {
    const entry = left.get(`sandbox/${path}`);
    if (entry === undefined) continue;
    const sides = { ours: entry.before, base: arrived.before, theirs: arrived.after };
    const { version } = await mergeVersions(git, scratch, sides, { onConflict: 'ours', name: '' });
    if (entryOf(version) === entryOf(entry.after)) left.delete(entry.path);
    else left.set(entry.path, { ...entry, before: version });
  }
  return left;
}

/** `names`: those of now of files that were renamed, step by step: a later copy may be more alike. */
async function changesSince(git: Git, from: string, to: string) {
  const found = await diffSnapshots(git, from, to);
  const names = mayHaveRenames(found) ? await namesSince(git, from, to) : new Map<string, string>();
  return { entries: new Map(found.map((entry) => [entry.path, entry])), names };
}

async function namesSince(git: Git, from: string, to: string): Promise<ReadonlyMap<string, string>> {
  const words = ['log', '--first-parent', '--reverse', '--no-show-signature', '-z', '--format=%H'];
  const renames = ['-M', '--diff-filter=R', '--name-status', `${from}..${to}`, '--', ...TOP_FOLDERS];
  const output = await gitBytes(withoutIndex(git), [...words, ...renames]);
  const first = new Map<string, string>();
  let earlier: ReadonlyMap<string, string> = first;
  // Each commit has its name, and then three fields for each file.
  const fields = fieldsOf(output).values();
  for (const field of fields) {
    if (!/^\n?R\d+$/.test(field)) {
      earlier = new Map(first);
      continue;
    }
    const [old = '', name = ''] = [fields.next().value, fields.next().value];
    first.set(name, earlier.get(old) ?? old);
    // Unless another file has got its name.
    if (first.get(old) === earlier.get(old)) first.delete(old);
  }
  return new Map([...first].map(([name, old]) => [decodePath(old), decodePath(name)]));
}

async function changesBetween(git: Git, from: string, to: string, under = ''): Promise<Changes> {
  const paths = under === '' ? TOP_FOLDERS : [];
  const found = await diffTrees(withoutIndex(git), from, to, { paths, countLines: false, decodePath });
  const entries = new Map(found.map((entry) => [under + entry.path, { ...entry, path: under + entry.path }]));
  const renames = mayHaveRenames(found) ? await findRenames(withoutIndex(git), from, to, paths) : [];
  const names = renames.map(({ old, name }) => [under + decodePath(old), under + decodePath(name)] as const);
  return { entries, newNames: new Map(names), oldNames: new Map(names.map(([old, name]) => [name, old])) };
}

/** Merges one file. `scratch` has a directory for the time of the merge. */
export async function mergeVersions(
  git: Git,
  scratch: Pick<ScratchObjects, 'dir'>,
  { ours, base, theirs }: Record<'ours' | 'base' | 'theirs', Version>,
  { onConflict, name }: Pick<TakeBackRequest, 'onConflict' | 'name'>,
): Promise<{ readonly version: Version; readonly isConflict: boolean }> {
  if (entryOf(ours) === entryOf(base)) return { version: theirs, isConflict: false };
  if (entryOf(ours) === entryOf(theirs)) return { version: ours, isConflict: false };
  if (ours === undefined || base === undefined || theirs === undefined || [ours, base, theirs].some(isLink))
    return { version: ours, isConflict: true };
  const mode = ours.mode === base.mode ? theirs.mode : ours.mode;
  if (base.oid === theirs.oid || ours.oid === theirs.oid)
    return { version: { mode, oid: ours.oid }, isConflict: false };
  const files = ['now', 'after', 'before'].map((file) => join(scratch.dir, file));
  const contents = await readObjects(git, [ours.oid, base.oid, theirs.oid]);
  for (const [i, file] of files.entries()) writeFileSync(file, contents[i]?.content ?? '');
  const names = ['now', `after ${name}`, `before ${name}`].flatMap((label) => ['-L', label]);
  const merge = (...strategy: string[]) => runGit(git, ['merge-file', '-p', ...strategy, ...names, ...files]);
  const merged = await merge();
  // 255: one of them is binary.
  if (merged.exitCode === BINARY) return { version: ours, isConflict: true };
  const isConflict = merged.exitCode !== 0;
  const { stdout: input } = isConflict && onConflict === 'ours' ? await merge('--ours') : merged;
  const oid = await gitText(git, [...FSYNC_ARGS, 'hash-object', '-w', '--stdin'], { input });
  return { version: { mode, oid }, isConflict };
}

const BINARY = 255;

/** Those of a conflict of git, which an agent has solved since. */
async function bringsMarkers(git: Git, now: Version, then: Version): Promise<boolean> {
  if (now === undefined || then === undefined || entryOf(now) === entryOf(then)) return false;
  const contents = await readObjects(git, [now.oid, then.oid]);
  const [has, had] = contents.map((object) =>
    /^<{7} .*^>{7} /ms.test(object?.content.toString('latin1') ?? ''),
  );
  return had === true && has === false;
}

const isLink = (version: Version) => version?.mode === LINK;

/** A commit as the last snapshot, but for these files. No ref leads to it: a restore goes there at once. */
export async function snapshotWith(
  git: Git,
  scratch: Pick<ScratchObjects, 'dir'>,
  tip: Snapshot,
  files: ReadonlyMap<string, Version>,
): Promise<Snapshot> {
  const index = withIndex(git, join(scratch.dir, 'index'));
  const edits = [...files].map(([path, version]) => [encodePath(path), entryOf(version)] as const);
  const tree = await editTree(index, { tree: tip.commit }, edits);
  const original = (await readCommits(git, [tip.commit])).get(tip.commit) ?? '';
  const content = Buffer.from(original.replace(/^tree \w+/, `tree ${tree}`), 'latin1');
  await storeCommits(git, [content], tip.commit);
  const commit = commitOid(content, tip.commit);
  return { ...parseSnapshot(commit, content.toString('latin1')), previous: tip.previous };
}
