/** The files that turns changed: each row of steps that follow each other counts as one change. */
import { findObjects } from '../git/objects/object-reader.ts';
import { findRenames } from '../git/objects/raw-diff.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import type { Git } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { acceptances } from '../session/landings.ts';
import { listRecords } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { isUndoOfWhole } from '../snapshot/format.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { decodePath } from '../snapshot/tree-names.ts';
import type { OnConflict } from './restore/merge-versions.ts';
import { planTakeBack } from './restore/take-back.ts';
import { compareWithPrevious, type FileChange, readTimeline } from './timeline.ts';
import { type AuthoredHistory, isMove, lineOf, type TurnSteps } from './turns.ts';

/** Steps that follow each other, as one snapshot that changes all that they did; oldest first. */
export function spansOf({ steps }: WithSteps): Snapshot[] {
  const spans: Snapshot[] = [];
  for (const step of steps) {
    const last = spans.at(-1);
    if (last !== undefined && step.previous === last.commit)
      spans.splice(-1, 1, { ...step, previous: last.previous, parents: last.parents });
    else spans.push(step);
  }
  return spans;
}

/**
 * After undos of one thing, which an undo by turn would only take back: the newest turn of which something is left.
 * Undefined if the last act was another one; 0 if no such turn is left.
 */
export async function turnLeft(session: Session, authored: AuthoredHistory) {
  const { steps } = authored;
  const end = steps.findLastIndex(({ snapshot }) => snapshot.undone.length === 0);
  const undos = steps.slice(end + 1).map(({ snapshot }) => snapshot);
  const undone = new Set(undos.filter(isUndoOfWhole).flatMap((one) => one.undone));
  const tip = undos.at(-1);
  if (tip === undefined) return undefined;
  const isUndone = async (turn: TurnSteps) => (await undoneTurns(session, authored, [turn])).undone.has(turn);
  for (const turn of authored.turns.toReversed())
    if ((await isLeft(session, tip, turn, undone)) && !(await isUndone(turn))) return turn.number;
  return 0;
}

/** An undo of paths or of a step has left the rest. Lines in a conflict stay, as somebody has decided. */
export async function isLeft(session: Session, tip: Snapshot, turn: WithSteps, undone: Undone = new Set()) {
  const spans = spansOf(turn).toReversed();
  const isUndone = areIn(spans, undone);
  const { wanted, conflicts } = await without(session, tip, spans, isUndone ? 'ours' : 'refuse');
  return wanted !== undefined || (!isUndone && conflicts.length > 0);
}

const without = (session: Session, at: Snapshot, spans: readonly Snapshot[], onConflict: OnConflict) =>
  planTakeBack(session, at, { spans, paths: undefined, onConflict, name: '' });

type WithSteps = Pick<TurnSteps, 'steps'>;

type Undone = Pick<ReadonlySet<string>, 'has'>;

function areIn(spans: readonly Snapshot[], undone: Undone): boolean {
  return spans.every(({ previous }) => undone.has(previous ?? ''));
}

/**
 * `undone`: those of `turns` that undos and restores have taken back as a whole, and nobody has put back.
 * `gone`: the snapshots that they have taken back by time.
 */
export async function undoneTurns<T extends WithSteps>(
  session: Session,
  { steps, begun }: AuthoredHistory,
  turns: readonly T[],
) {
  const tip = steps.at(-1)?.snapshot;
  const { line, undone } = await walkBack(session.git, { steps });
  const known = new Map(steps.map(({ snapshot }) => [snapshot.commit, snapshot]));
  const gone = new Set(known.keys()).difference(new Set(line.map(({ commit }) => commit)));
  const spanAfter = new Map(begun.flatMap(spansOf).map((span) => [span.previous ?? '', span]));
  /** What it took back together: a turn alone may be in conflict, as a later one has changed the same lines. */
  const isWhole = async (undo: Snapshot) => {
    const spans = undo.undone.flatMap((previous) => spanAfter.get(previous) ?? []);
    const at = isUndoOfWhole(undo) ? known.get(undo.previous ?? '') : undefined;
    const taken = at && (await without(session, at, spans, 'refuse'));
    return taken?.isNothing === false && taken.conflicts.length === 0;
  };
  const ofAgents = new Set(steps.flatMap(({ snapshot, turn }) => (turn ? snapshot : [])));
  const beforeAgents = new Set([...ofAgents].map(({ previous }) => previous));
  /** No undo of another turn: if that removes a file, a deletion taken back before seems to be back. */
  const mayPutBack = (one: Snapshot) =>
    !ofAgents.has(one) && !one.undone.some((previous) => beforeAgents.has(previous));
  /** Left by its undo, or put back by somebody. An agent that does the same again has a turn of its own. */
  const isThere = async (turn: T, after?: Snapshot) => {
    const spans = spansOf(turn).toReversed();
    const has = async (at = tip) =>
      at !== undefined && (await without(session, at, spans, 'ours')).wanted !== undefined;
    if (!(await has())) return false;
    if (after !== undefined && (await has(after))) return true;
    for (const [i, one] of line.slice(0, after && line.indexOf(after)).entries())
      if (mayPutBack(one) && (await has(one)) && !(await has(line[i + 1]))) return true;
    return false;
  };
  const found = new Set<T>();
  for (const turn of turns.filter((one) => one.steps.length > 0)) {
    const isBack = turn.steps.every(({ commit }) => gone.has(commit));
    const undo = areIn(spansOf(turn), undone) ? undone.get(turn.steps[0]?.previous ?? '') : undefined;
    const isGone = async (at = tip) => at !== undefined && !(await isLeft(session, at, turn));
    // A conflict of now is about lines of the turn if there was one after the undo, and in it.
    const isUndone = async (by: Snapshot) =>
      (await isGone()) || (((await isGone(by)) || (await isWhole(by))) && !(await isThere(turn, by)));
    const isUndoneByTime = isBack && !(await isThere(turn));
    if (isUndoneByTime || (undo && (await isUndone(undo)))) found.add(turn);
  }
  return { undone: found, gone };
}

/** `line`: the present comes from these, newest first. `undone`: undos by merge, by `previous` of a span. */
async function walkBack(git: Git, { steps }: Pick<AuthoredHistory, 'steps'>) {
  const known = new Map(steps.map(({ snapshot }) => [snapshot.commit, snapshot]));
  const isOfHere = ({ restoredBy, restored = '' }: Snapshot) =>
    restoredBy === 'restore' && known.has(restored);
  const restores = [...known.values()].filter(isOfHere);
  const names = restores.flatMap(({ commit, restored }) => [`${commit}:sandbox`, `${restored}:sandbox`]);
  const trees = (await findObjects(git, names)).map((tree) => tree?.oid);
  const ofAll = new Set(restores.filter((_, i) => trees[2 * i] === trees[2 * i + 1]));
  const isBack = (one: Snapshot) => isMove(one) || ofAll.has(one);
  const lineTo = (from: string | undefined) => lineOf(known, from, isBack);
  const line = [...lineTo(steps.at(-1)?.snapshot.commit)];
  const found = line.toReversed().flatMap((one) => one.undone.map((previous) => [previous, one] as const));
  const undone = new Map(found);
  // The undo of a redo takes back all that this had brought.
  for (const one of [...known.values()].filter(isBack)) {
    const undo = undone.get(one.previous ?? '');
    if (undo !== undefined)
      for (const { previous = '' } of lineTo(one.commit).difference(lineTo(one.previous)))
        undone.set(previous, undo);
  }
  return { line, undone };
}

/**
 * By turn, whatever undos have taken back. A file that came and went again is none, unless it went in one of the steps
 * `gone`, which were taken back. `asShown`: a renamed file is one, as git shows it.
 */
export async function filesOfTurns(
  git: Git,
  turns: readonly TurnSteps[],
  { countLines = false, asShown = false, gone = new Set<string>() } = {},
): Promise<ReadonlyMap<TurnSteps, readonly FileChange[]>> {
  const leftOf = ({ steps }: TurnSteps) =>
    spansOf({ steps: steps.filter(({ commit }) => !gone.has(commit)) });
  const spans = new Map(
    [...turns.flatMap(spansOf), ...turns.flatMap(leftOf)].map((one) => [one.commit, one]),
  );
  const timeline = await readTimeline(git, [...spans.values()], { pathspecs: [], countLines });
  const changes = new Map<string, readonly FileChange[]>();
  for (const { snapshot, files } of timeline)
    changes.set(snapshot.commit, asShown ? await withRenamed(git, snapshot, files) : files);
  const filesIn = (some: readonly Snapshot[]) => {
    const files = new Map<string, FileChange>();
    for (const file of some.flatMap(({ commit }) => changes.get(commit) ?? [])) {
      const joined = join(files.get(file.old ?? file.path), file);
      if (file.old !== undefined) files.delete(file.old);
      if (joined === undefined) files.delete(file.path);
      else files.set(file.path, joined);
    }
    return files;
  };
  return new Map(
    turns.map((turn) => {
      const whole = filesIn(spansOf(turn));
      return [turn, [...new Map([...whole, ...filesIn(leftOf(turn)), ...whole]).values()]];
    }),
  );
}

/** What acceptances of these repositories brought, or took away again: paths, with the name of the content. */
export async function landedFiles(repositories: readonly Repository[]): Promise<Set<string>> {
  const landed = new Set<string>();
  for (const repository of repositories) {
    const { git } = repository;
    const { records } = listRecords(repository);
    const all = records.flatMap((record) => [...acceptances(record)]);
    const known = await findObjects(git, all.flat());
    const pairs = all
      .filter((_, i) => known[2 * i] && known[2 * i + 1])
      .map(([commit, previous]) => ({ commit, previous }));
    const isBack = new Set(records.flatMap(({ taken_back = [] }) => taken_back.map(({ commit }) => commit)));
    const found = await compareWithPrevious(git, pairs, { pathspecs: [], countLines: false });
    for (const [commit, files] of found)
      for (const { path, before, after } of files)
        for (const version of isBack.has(commit) ? [after, before] : [after])
          landed.add(`sandbox/${path} ${version?.oid}`);
  }
  return landed;
}

/** A renamed file is one, as git shows it. */
export async function withRenamed(
  git: Git,
  { previous, commit, parents }: Snapshot,
  files: readonly FileChange[],
): Promise<readonly FileChange[]> {
  const kinds = new Set(files.map(({ kind }) => kind));
  if (!kinds.has('added') || !kinds.has('deleted')) return files;
  const [from, to, under] =
    previous === undefined
      ? [`${parents[0]}^{tree}`, `${commit}:sandbox`, 'sandbox/']
      : [previous, commit, ''];
  const renames = await findRenames(withoutIndex(git), from, to, under === '' ? TOP_FOLDERS : []);
  const onDisk = (path: string) => under + decodePath(path);
  const byName = new Map(
    renames.map(({ old, name, ...lines }) => [onDisk(name), { ...lines, old: onDisk(old) }]),
  );
  const gone = new Set([...byName.values()].map(({ old }) => old));
  return files
    .filter(({ path }) => !gone.has(path))
    .map((file) => ({
      ...file,
      ...(byName.has(file.path) && { kind: 'changed' as const, ...byName.get(file.path) }),
    }));
}

function join(first: FileChange | undefined, last: FileChange): FileChange | undefined {
  if (first === undefined) return last;
  const [isNew, isGone] = [first.kind === 'added', last.kind === 'deleted'];
  const { old: _, ...rest } = last;
  const old = first.old ?? last.old;
  if (isNew && isGone) return undefined;
  const sum = (a: number | undefined, b: number | undefined) =>
    a === undefined || b === undefined ? undefined : a + b;
  return {
    ...rest,
    ...(old !== undefined && old !== last.path && !isNew && { old }),
    kind: isNew ? 'added' : isGone ? 'deleted' : 'changed',
    insertions: sum(first.insertions, last.insertions),
    removals: sum(first.removals, last.removals),
  };
}
