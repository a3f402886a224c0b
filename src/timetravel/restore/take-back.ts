/**
 * The undo of one thing: what some steps changed is taken back by a merge in memory, and all that came later or is of
 * somebody else stays. For each of them, newest first, base is the file after it, theirs the file before it, and ours the
 * file as it is. The result is a snapshot that a restore goes to.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINK } from '../../git/modes.ts';
import { commitOid, readCommits, storeCommits } from '../../git/objects/commits.ts';
import { findObjects, readObjects } from '../../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees } from '../../git/objects/raw-diff.ts';
import { editTree, withIndex, withoutIndex } from '../../git/objects/scratch-index.ts';
import { type ScratchObjects, withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { FSYNC_ARGS, type Git, gitText, runGit } from '../../git/run/git.ts';
import type { Session } from '../../session/session.ts';
import { isUnder, TOP_FOLDERS } from '../../snapshot/folders.ts';
import { parseSnapshot, type Snapshot } from '../../snapshot/history.ts';
import { parentDirectories, readSnapshotTree } from '../../snapshot/tree.ts';
import { decodePath, encodePath } from '../../snapshot/tree-names.ts';

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
  /** Those of them that stay as they are. */
  readonly kept: readonly string[];
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
    const conflicts = new Set<string>();
    let isNothing = true;
    for (const span of request.spans) {
      const changes = (await changesOf(git, span)).filter(
        ({ path }) => request.paths === undefined || isUnder(path, request.paths),
      );
      const later = new Map(
        (await changesBetween(git, span.commit, tip.commit)).map((one) => [one.path, one]),
      );
      for (const change of changes) {
        isNothing = false;
        const { path, before: theirs, after: base } = change;
        const atTip = later.has(path) ? later.get(path)?.after : base;
        const ours = now.has(path) ? now.get(path) : atTip;
        const merged = await mergeVersions(git, scratch, { ours, base, theirs }, request);
        if (merged.isConflict) conflicts.add(path);
        if (!isSame(merged.version, atTip)) now.set(path, merged.version);
        else now.delete(path);
      }
    }
    for (const path of await obstructed(git, tip, now)) {
      conflicts.add(path);
      now.delete(path);
    }
    const isRefused = conflicts.size > 0 && request.onConflict === 'refuse';
    const wanted = isRefused || now.size === 0 ? undefined : await snapshotWith(git, scratch, tip, now);
    const kept = [...conflicts].filter((path) => !now.has(path));
    return { wanted, paths: [...now.keys()], conflicts: [...conflicts], kept, isNothing };
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

const isSame = (a: Version, b: Version) => a?.mode === b?.mode && a?.oid === b?.oid;

async function changesOf(git: Git, { previous, commit, parents }: Snapshot): Promise<DiffEntry[]> {
  if (previous !== undefined) return changesBetween(git, previous, commit);
  // The commit before the first snapshot has the files of the sandbox at its top.
  const start = `${parents[0]}^{tree}`;
  const ofSandbox = await diffTrees(withoutIndex(git), start, `${commit}:sandbox`, {
    countLines: false,
    decodePath,
  });
  return ofSandbox.map((entry) => ({ ...entry, path: `sandbox/${entry.path}` }));
}

function changesBetween(git: Git, from: string, to: string): Promise<DiffEntry[]> {
  return diffTrees(withoutIndex(git), from, to, { paths: TOP_FOLDERS, countLines: false, decodePath });
}

interface Sides {
  readonly ours: Version;
  readonly base: Version;
  readonly theirs: Version;
}

/** Of one file. `scratch` has a directory for the time of the merge. */
export async function mergeVersions(
  git: Git,
  scratch: Pick<ScratchObjects, 'dir'>,
  { ours, base, theirs }: Sides,
  { onConflict, name }: Pick<TakeBackRequest, 'onConflict' | 'name'>,
): Promise<{ readonly version: Version; readonly isConflict: boolean }> {
  if (isSame(ours, base)) return { version: theirs, isConflict: false };
  if (isSame(ours, theirs)) return { version: ours, isConflict: false };
  if (ours === undefined || base === undefined || theirs === undefined || [ours, base, theirs].some(isLink))
    return { version: ours, isConflict: true };
  const mode = ours.mode === base.mode ? theirs.mode : ours.mode;
  if (base.oid === theirs.oid || ours.oid === theirs.oid)
    return { version: { mode, oid: ours.oid }, isConflict: false };
  const files = ['now', 'after', 'before'].map((file) => join(scratch.dir, file));
  const contents = await readObjects(git, [ours.oid, base.oid, theirs.oid]);
  for (const [i, file] of files.entries()) writeFileSync(file, contents[i]?.content ?? '');
  const names = ['now', `after ${name}`, `before ${name}`].flatMap((label) => ['-L', label]);
  const strategy = onConflict === 'ours' ? ['--ours'] : [];
  const merged = await runGit(git, ['merge-file', '-p', ...strategy, ...names, ...files]);
  // 255: one of them is binary.
  if (merged.exitCode === BINARY) return { version: ours, isConflict: true };
  const oid = await gitText(git, [...FSYNC_ARGS, 'hash-object', '-w', '--stdin'], { input: merged.stdout });
  return { version: { mode, oid }, isConflict: merged.exitCode !== 0 };
}

const BINARY = 255;

const isLink = (version: Version) => version?.mode === LINK;

/** A commit as the last snapshot, but for these files. No ref leads to it: a restore goes there at once. */
export async function snapshotWith(
  git: Git,
  scratch: Pick<ScratchObjects, 'dir'>,
  tip: Snapshot,
  files: ReadonlyMap<string, Version>,
): Promise<Snapshot> {
  const index = withIndex(git, join(scratch.dir, 'index'));
  const edits = [...files].map(
    ([path, version]) => [encodePath(path), version && `${version.mode} ${version.oid}`] as const,
  );
  const tree = await editTree(index, { tree: tip.commit }, edits);
  const original = (await readCommits(git, [tip.commit])).get(tip.commit) ?? '';
  const content = Buffer.from(original.replace(/^tree \w+/, `tree ${tree}`), 'latin1');
  await storeCommits(git, [content], tip.commit);
  const commit = commitOid(content, tip.commit);
  return { ...parseSnapshot(commit, content.toString('latin1')), previous: tip.previous };
}
