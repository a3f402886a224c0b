/** Reads what each snapshot of a session changed. The number of git calls does not depend on the number of snapshots. */
import { takenRef } from '../filter/agent-refs.ts';
import { SUBMODULE } from '../git/modes.ts';
import { findObject, findObjects, readObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees, diffTreeWords, entryOf, parseRawDiff } from '../git/objects/raw-diff.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import { type Git, gitBytes } from '../git/run/git.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { AS_CHECKED_OUT, WITH_CHANGES } from '../snapshot/format.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { emptyTree, sandboxTree } from '../snapshot/tree.ts';
import { decodePath, encodePath } from '../snapshot/tree-names.ts';
import { isExclusion, type Pathspec } from './session-paths.ts';

export interface FileChange {
  /** Relative to the session folder, as on disk; one byte per character. */
  readonly path: string;
  /** Its name before, if renames are looked for. */
  readonly old?: string;
  readonly kind: 'added' | 'changed' | 'deleted';
  /** Number of lines; undefined without `countLines` and for a file that git considers binary. */
  readonly insertions: number | undefined;
  readonly removals: number | undefined;
  /** Bytes of the new content, and its name. */
  readonly size: number;
  readonly oid: string | undefined;
}

export interface SnapshotChanges {
  readonly snapshot: Snapshot;
  readonly files: readonly FileChange[];
}

interface TimelineOptions {
  /** Relative to the session folder. Without any, all files are listed. */
  readonly pathspecs: readonly Pathspec[];
  readonly countLines: boolean;
}

/** Returns one element for each of `snapshots`, in their order. */
export async function readTimeline(
  git: Git,
  snapshots: readonly Snapshot[],
  options: TimelineOptions,
): Promise<SnapshotChanges[]> {
  const { pathspecs } = options;
  const completed = { ...options, pathspecs: completePathspecs(pathspecs) };
  const entries = await compareWithPrevious(git, snapshots, completed);
  for (const { commit, previous, parents, label, session } of snapshots) {
    if (previous !== undefined) continue;
    const start = parents[0] ?? commit;
    const found = await compareWithStart(git, { commit, start }, completed);
    const own =
      label === AS_CHECKED_OUT ? new Set() : label === WITH_CHANGES && (await ownPaths(git, session, start));
    const noted = found.filter(({ path, before }) => !own || before === undefined || own.has(path));
    entries.set(commit, own ? noted : await withoutConverted(git, noted));
  }
  const sizes = await readSizes(git, [...entries.values()].flat());
  return snapshots.map((snapshot) => ({
    snapshot,
    files: (entries.get(snapshot.commit) ?? []).map((entry) => describe(entry, sizes)),
  }));
}

/** What the user had changed, without files that only the checkout has converted; undefined if git has no note of it. */
async function ownPaths(git: Git, session: string, start: string) {
  const taken = await findObject(git, `${takenRef(session)}^{commit}`);
  return taken && new Set((await diffTrees(git, start, taken)).map(({ path }) => `sandbox/${path}`));
}

/** Without files that the checkout alone has given CRLF. */
async function withoutConverted(git: Git, entries: readonly DiffEntry[]): Promise<DiffEntry[]> {
  const names = entries.flatMap(({ before, after }) => (before && after ? [before.oid, after.oid] : []));
  const known = new Map((await findObjects(git, names)).map((one) => [one?.oid, one?.size ?? 0]));
  const sizes = ({ before, after }: DiffEntry) => [before, after].map((one) => known.get(one?.oid) ?? 0);
  const isConverted = async (entry: DiffEntry) => {
    const [was = 0, is = 0] = sizes(entry);
    if (was === 0 || is <= was || is > 2 * was || is > MOST_CONVERTED) return false;
    const contents = await readObjects(git, [entry.before?.oid ?? '', entry.after?.oid ?? '']);
    const [stored, onDisk] = contents.map((one) => one?.content.toString('latin1'));
    return onDisk?.replaceAll('\r\n', '\n') === stored;
  };
  const converted = await Promise.all(entries.map(isConverted));
  return entries.filter((_, i) => !converted[i]);
}

const MOST_CONVERTED = 1_000_000;

/** Without any that includes something, all files of the session. */
export function completePathspecs(pathspecs: readonly Pathspec[]): readonly Pathspec[] {
  const everything = TOP_FOLDERS.map((path) => ({ magic: '', path }));
  return pathspecs.every(isExclusion) ? [...everything, ...pathspecs] : pathspecs;
}

function describe(
  { path, before, after, ...lines }: DiffEntry,
  sizes: ReadonlyMap<string, number>,
): FileChange {
  const kind = before === undefined ? 'added' : after === undefined ? 'deleted' : 'changed';
  return { path, kind, ...lines, size: sizes.get(after?.oid ?? '') ?? 0, oid: after?.oid };
}

/** By commit, by one git. Those without a snapshot before them are not in the result. */
export async function compareWithPrevious(
  git: Git,
  snapshots: readonly Pick<Snapshot, 'commit' | 'previous'>[],
  options: TimelineOptions = { pathspecs: completePathspecs([]), countLines: false },
): Promise<Map<string, DiffEntry[]>> {
  const later = snapshots.filter(({ previous }) => previous !== undefined);
  if (later.length === 0) return new Map();
  const input = later.map(({ commit, previous }) => `${commit} ${previous}\n`).join('');
  const args = [...diffTreeWords(options.countLines), '--stdin', '--', ...inTrees(options.pathspecs)];
  return parseRawDiff((await gitBytes(withoutIndex(git), args, { input })).toString('latin1'), decodePath);
}

/** The start commit's tree is `sandbox/` of the snapshot, so the other folders are compared separately. */
async function compareWithStart(
  git: Git,
  { commit, start }: { readonly commit: string; readonly start: string },
  options: TimelineOptions,
): Promise<DiffEntry[]> {
  const empty = await emptyTree(git);
  const sandbox = await sandboxTree(git, commit);
  const compare = async (before: string, after: string, pathspecs: readonly Pathspec[]) => {
    if (pathspecs.every(isExclusion)) return [];
    const { countLines } = options;
    return diffTrees(withoutIndex(git), before, after, { paths: inTrees(pathspecs), countLines, decodePath });
  };
  const isInSandbox = ({ path }: Pathspec) => /^sandbox(\/|$)/.test(path);
  const sandboxSpecs = options.pathspecs
    .filter(isInSandbox)
    .map(({ magic, path }) => ({ magic, path: path.slice('sandbox/'.length) || '.' }));
  const otherSpecs = options.pathspecs.filter((spec) => !isInSandbox(spec));
  // A submodule of git's own tree is no file of a snapshot.
  const sandboxEntries = (await compare(`${start}^{tree}`, sandbox, sandboxSpecs)).map((entry) => ({
    ...entry,
    path: `sandbox/${entry.path}`,
    before: entry.before?.mode === SUBMODULE ? undefined : entry.before,
  }));
  return [
    ...sandboxEntries.filter(({ before, after }) => entryOf(before) !== entryOf(after)),
    ...(await compare(empty, commit, otherSpecs)),
  ];
}

/** Each pathspec also with encoded names: trees store a few names in another form (tree-names.ts). */
export function inTrees(pathspecs: readonly Pathspec[]): string[] {
  const all = pathspecs.flatMap(({ magic, path }) => {
    const encoded = encodePath(Buffer.from(path).toString('latin1'));
    return [magic + path, magic + Buffer.from(encoded, 'latin1').toString()];
  });
  return [...new Set(all)];
}

async function readSizes(git: Git, entries: readonly DiffEntry[]): Promise<Map<string, number>> {
  const oids = [...new Set(entries.flatMap(({ after }) => after?.oid ?? []))];
  return new Map((await findObjects(git, oids)).map((found, i) => [oids[i] ?? '', found?.size ?? 0]));
}
