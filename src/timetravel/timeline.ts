/** What each snapshot of a session changed: read for all of them at once, whatever their number. */

import { type DiffEntry, parseRawDiff } from '../git/objects/raw-diff.ts';
import { type Git, gitBytes, gitText, resolveObject } from '../git/run/git.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { decodePath, encodePath } from '../snapshot/tree-names.ts';
import { excludes, type Pathspec } from './agent-paths.ts';

export interface FileChange {
  /** Relative to the session folder, as on disk; one byte per character. */
  readonly path: string;
  readonly kind: 'added' | 'changed' | 'deleted';
  /** Lines; undefined where they were not asked for, and for a file that git takes for binary. */
  readonly insertions: number | undefined;
  readonly removals: number | undefined;
  /** Bytes of the new content. */
  readonly size: number;
}

export interface SnapshotChanges {
  readonly snapshot: Snapshot;
  readonly files: readonly FileChange[];
}

export interface TimelineOptions {
  /** Relative to the session folder; none means all of it. */
  readonly pathspecs: readonly Pathspec[];
  readonly countLines: boolean;
}

/** In the order of `snapshots`. */
export async function readTimeline(
  git: Git,
  snapshots: readonly Snapshot[],
  options: TimelineOptions,
): Promise<SnapshotChanges[]> {
  const { pathspecs } = options;
  const everything = TOP_FOLDERS.map((path) => ({ magic: '', path }));
  const wanted = {
    ...options,
    pathspecs: pathspecs.every(excludes) ? [...everything, ...pathspecs] : pathspecs,
  };
  const entries = await compareWithPrevious(git, snapshots, wanted);
  for (const { commit, previous } of snapshots) {
    if (previous === undefined) entries.set(commit, await compareWithStart(git, commit, wanted));
  }
  const sizes = await readSizes(git, [...entries.values()].flat());
  return snapshots.map((snapshot) => ({
    snapshot,
    files: (entries.get(snapshot.commit) ?? []).map((entry) => describe(entry, sizes)),
  }));
}

function describe(
  { path, before, after, ...lines }: DiffEntry,
  sizes: ReadonlyMap<string, number>,
): FileChange {
  const kind = before === undefined ? 'added' : after === undefined ? 'deleted' : 'changed';
  return { path, kind, ...lines, size: sizes.get(after?.oid ?? '') ?? 0 };
}

async function compareWithPrevious(
  git: Git,
  snapshots: readonly Snapshot[],
  options: TimelineOptions,
): Promise<Map<string, DiffEntry[]>> {
  const later = snapshots.filter(({ previous }) => previous !== undefined);
  if (later.length === 0) return new Map();
  const input = later.map(({ commit, previous }) => `${commit} ${previous}\n`).join('');
  const args = ['diff-tree', '--stdin', ...formatOf(options), '--', ...inTrees(options.pathspecs)];
  return parseRawDiff((await gitBytes(git, args, { input })).toString('latin1'), decodePath);
}

/** The first state's parent is the commit that the session started at: its tree is what stood in the sandbox. */
async function compareWithStart(git: Git, commit: string, options: TimelineOptions): Promise<DiffEntry[]> {
  const empty = await gitText(git, ['hash-object', '-t', 'tree', '--stdin'], { input: '' });
  const sandbox = (await resolveObject(git, `${commit}:sandbox`)) ?? empty;
  const compare = async (before: string, after: string, pathspecs: readonly Pathspec[]) => {
    if (pathspecs.every(excludes)) return [];
    const args = ['diff-tree', ...formatOf(options), before, after, '--', ...inTrees(pathspecs)];
    return parseRawDiff((await gitBytes(git, args)).toString('latin1'), decodePath).get('') ?? [];
  };
  const isIn = ({ path }: Pathspec) => /^sandbox(\/|$)/.test(path);
  const inSandbox = options.pathspecs
    .filter(isIn)
    .map(({ magic, path }) => ({ magic, path: path.slice('sandbox/'.length) || '.' }));
  const others = options.pathspecs.filter((spec) => !isIn(spec));
  const ofSandbox = (await compare(`${commit}^1^{tree}`, sandbox, inSandbox)).map((entry) => ({
    ...entry,
    path: `sandbox/${entry.path}`,
    before: entry.before?.mode === '160000' ? undefined : entry.before, // a submodule is no file
  }));
  return [
    ...ofSandbox.filter(({ before, after }) => before?.mode !== after?.mode || before?.oid !== after?.oid),
    ...(await compare(empty, commit, others)),
  ];
}

/** Some names stand in a tree under another one. */
function inTrees(pathspecs: readonly Pathspec[]): string[] {
  const all = pathspecs.flatMap(({ magic, path }) => {
    const encoded = encodePath(Buffer.from(path).toString('latin1'));
    return [magic + path, magic + Buffer.from(encoded, 'latin1').toString()];
  });
  return [...new Set(all)];
}

function formatOf({ countLines }: TimelineOptions): string[] {
  return ['-r', '-z', '--no-renames', '--full-index', '--raw', ...(countLines ? ['--numstat'] : [])];
}

async function readSizes(git: Git, entries: readonly DiffEntry[]): Promise<Map<string, number>> {
  const oids = [...new Set(entries.flatMap(({ after }) => after?.oid ?? []))];
  if (oids.length === 0) return new Map();
  const input = oids.map((oid) => `${oid}\n`).join('');
  const format = '--batch-check=%(objectname) %(objectsize)';
  const answers = (await gitText(git, ['cat-file', '--buffer', format], { input })).split('\n');
  return new Map(
    answers.map((line) => {
      const [oid = '', size] = line.split(' ');
      return [oid, Number(size) || 0];
    }),
  );
}
