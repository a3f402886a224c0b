/**
 * The undo of one thing: what some steps changed is taken back by a merge in memory, and all that came later or is of
 * somebody else stays. For each of them, newest first, base is the file after it, theirs the file before it, and ours the
 * file as it is; each of these may have another name. The result is a snapshot that a restore goes to.
 */
import { join } from 'node:path';
import { repositoryOf } from '../../folders/git-state/kept-repositories.ts';
import { commitOid, readCommits, storeCommits, storeObjects } from '../../git/objects/commits.ts';
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
import { inPathList } from '../../git/run/environment.ts';
import { fieldsOf, type Git, gitAnswer, gitBytes, isAncestor } from '../../git/run/git.ts';
import { isAttached } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { isUnder, TOP_FOLDERS } from '../../snapshot/folders.ts';
import { parseSnapshot, type Snapshot } from '../../snapshot/history.ts';
import { diffSnapshots, parentDirectories, readSnapshotTree, sandboxTree } from '../../snapshot/tree.ts';
import { decodePath, encodePath } from '../../snapshot/tree-names.ts';
import { acceptedBetween } from './acceptances.ts';
import { listIgnored } from './ignored-files.ts';
import { bringsMarkers, mergeVersions, type OnConflict, type Version } from './merge-versions.ts';

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
      const changes = await changesOf(session, span, scratch);
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
  session: Session,
  { previous, commit, parents }: Snapshot,
  scratch: Pick<ScratchObjects, 'dir'>,
): Promise<Changes> {
  const { git } = session;
  if (previous !== undefined) {
    const changes = await changesBetween(git, previous, commit);
    const entries = await withoutArrived(session, changes.entries, { previous, commit }, scratch);
    return { ...changes, entries };
  }
  // The commit before the first snapshot has the files of the sandbox at its top.
  return changesBetween(git, `${parents[0]}^{tree}`, await sandboxTree(git, commit), 'sandbox/');
}

/** Without what is of others: commits that a merge or a rebase has brought, and acceptances during a call. */
async function withoutArrived(
  session: Session,
  entries: Changes['entries'],
  { previous, commit }: Record<'previous' | 'commit', string>,
  scratch: Pick<ScratchObjects, 'dir'>,
): Promise<Changes['entries']> {
  const git = withUsersObjects(session);
  const contents = await readCommits(git, [previous, commit]);
  const [before, after] = [previous, commit].map((one) => parseSnapshot(one, contents.get(one) ?? ''));
  if (before === undefined || after === undefined || before.head === after.head) return entries;
  const accepted = await acceptedBetween(session, previous, commit);
  const pairs = accepted.map(({ from, commit: to }) => [from, to] as const);
  const heads = [before.head, after.head].filter((head) => head !== undefined);
  const branch = after.parents[1];
  if (!isAttached(session.record) && branch !== undefined && heads.length === 2) {
    const bases = heads.map((head) => gitAnswer(git, ['merge-base', head, branch]));
    const [from, to] = await Promise.all(bases);
    if (from !== undefined && to !== undefined && (await isAncestor(git, from, to))) pairs.push([from, to]);
  }
  const left = new Map(entries);
  const brought = new Set<string>();
  for (const [from, to] of pairs)
    for (const { path, ...arrived } of await diffTrees(git, from, to, { countLines: false })) {
      const entry = left.get(`sandbox/${path}`);
      if (entry === undefined) continue;
      const sides = { ours: entry.before, base: arrived.before, theirs: arrived.after };
      const { version } = await mergeVersions(git, scratch, sides, { onConflict: 'ours', name: '' });
      if (entryOf(version) === entryOf(entry.after)) left.delete(entry.path);
      else {
        left.set(entry.path, { ...entry, before: version });
        if (version !== undefined) brought.add(version.oid);
      }
    }
  const blobs = (await readObjects(git, [...brought])).filter((one) => one?.type === 'blob');
  const objects = blobs.flatMap((one) => (one ? { type: 'blob' as const, content: one.content } : []));
  if (accepted.length > 0) await storeObjects(session.git, objects, commit);
  return left;
}

/** The store of a folder does not have every commit of its repository. */
function withUsersObjects({ git, record }: Session): Git {
  const places = isAttached(record) ? repositoryOf(record.checkout ?? record.sandbox) : undefined;
  if (places === undefined) return git;
  const objects = inPathList(join(places.commonDir, 'objects'));
  return { ...git, env: { ...git.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects } };
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
