/** The state that a command of agt has to bring about, from the record of a snapshot. */
import { differences, isAbove, isUnder } from './compare.ts';
import type { Facts, Refs } from './facts.ts';
import type { Life, LifeSession, Link } from './life.ts';

export interface Expectation {
  readonly facts: Facts;
  readonly ignore: (key: string) => boolean;
  /** The differences from the snapshot that agt itself has to name. */
  readonly named: readonly string[];
}

const HEAD_KEYS = ['HEAD', 'HEAD commit', 'work branch'];

interface Surroundings {
  /** As they were before the restore. */
  readonly refs: Refs;
  /** The branches that other worktrees have checked out. */
  readonly headsElsewhere: readonly string[];
  /** HEAD of the sandbox before the restore. */
  readonly head: string | undefined;
  readonly workBranch: string;
}

/** After a restore of everything, the git directory included. */
export function afterRestore(
  snapshot: Facts,
  { refs, headsElsewhere, head, workBranch }: Surroundings,
): Expectation {
  const facts = new Map(snapshot);
  const wanted = snapshot.get('HEAD') ?? '';
  const commit = snapshot.get('HEAD commit');
  const isTaken = headsElsewhere.includes(workBranch);
  const branch = /^ref: (.*)$/.exec(wanted)?.[1];
  const isThere = branch !== undefined && refs.get(branch) === commit;
  const isFree = isThere && (head === wanted || !headsElsewhere.includes(branch));
  const isPossible = wanted === 'the work branch' ? !isTaken : branch === undefined || isFree;
  if (!isPossible && commit !== undefined) facts.set('HEAD', commit);
  const isWorkLost =
    isTaken && wanted !== 'the work branch' && snapshot.get('work branch') !== refs.get(workBranch);
  return {
    facts,
    // agt does not put HEAD on a branch that has its first commits by now, and leaves it where it is.
    ignore: (key) =>
      (key === 'work branch' && isTaken) || (!isPossible && commit === undefined && HEAD_KEYS.includes(key)),
    named: [
      ...(isPossible ? [] : ['HEAD of the sandbox']),
      ...(isPossible && isWorkLost ? ['the work branch'] : []),
    ],
  };
}

/** After a fork. HEAD is on the work branch of the fork, or detached. */
export function afterFork(snapshot: Facts): Expectation {
  const facts = new Map(snapshot);
  const commit = snapshot.get('HEAD commit');
  const wasOnWorkBranch = snapshot.get('HEAD') === 'the work branch';
  if (commit !== undefined && !wasOnWorkBranch) facts.set('HEAD', commit);
  return {
    facts,
    ignore: (key) =>
      (commit === undefined && HEAD_KEYS.includes(key)) || (key === 'work branch' && !snapshot.has(key)),
    named: [],
  };
}

/** After a restore of some paths of the session folder: these as in the snapshot, all others as before. */
export function afterPartialRestore(snapshot: Facts, before: Facts, paths: readonly string[]): Expectation {
  const isChosen = (key: string) => paths.some((path) => isUnder(key, path));
  const facts = new Map([
    ...[...before].filter(([key]) => !isChosen(key)),
    ...[...snapshot].filter(([key]) => isChosen(key)),
  ]);
  return { facts, ignore: (key) => paths.some((path) => isAbove(key, path)), named: [] };
}

export function compareWith(
  { facts, ignore }: Pick<Expectation, 'facts' | 'ignore'>,
  actual: Facts,
): string[] {
  return differences(facts, actual, ignore);
}

/** The steps of an editor's undo, from the chain of a session. A snapshot that changed nothing takes no redo away. */
function replay({ chain, forkedAt }: LifeSession, factsOf: (link: Link) => Facts) {
  const steps: Link[] = [];
  let current = -1;
  let begin = 0;
  for (const [i, link] of chain.entries()) {
    const before = chain[i - 1];
    const at = steps.findIndex(({ commit }) => commit === link.restored);
    const wasMove = link.by !== undefined && at >= 0 && (link.by === 'undo' ? at < current : at > current);
    if (wasMove) current = at;
    else if (link.by === 'undo' && at < 0) current = -1;
    else if (current + 1 === steps.length || !before || !isSame(factsOf(before), factsOf(link))) {
      steps.splice(current + 1);
      current = steps.push(link) - 1;
    }
    if (i + 1 === forkedAt) begin = current;
  }
  return { steps, current, begin };
}

/** The snapshot that an undo or a redo has to go to; undefined if there is none. */
export function moveTarget(life: Life, session: LifeSession, by: 'undo' | 'redo'): Facts | undefined {
  const factsOf = (link: Link) => life.snapshots.get(link.commit) as Facts;
  const { steps, current, begin } = replay(session, factsOf);
  const { start } = session;
  const at = steps[current] === undefined ? start : factsOf(steps[current]);
  if (at === undefined) return undefined;
  const last = session.chain.at(-1);
  const isNew = !isSame(last === undefined ? at : factsOf(last), session.facts);
  if (isNew) return by === 'undo' ? at : undefined;
  const others =
    by === 'undo' ? steps.slice(begin, Math.max(0, current)).reverse() : steps.slice(current + 1);
  const all = [...others.map(factsOf), ...(by === 'undo' && start !== undefined ? [start] : [])];
  return all.find((facts) => !isSame(facts, at));
}

/** Whether snapshots with these facts are the same. */
export function isSame(one: Facts, other: Facts): boolean {
  return differences(one, other).length === 0;
}

/** The facts that decide how far a restore of the session can bring HEAD and the work branch back. */
export function surroundings(life: Life, session: LifeSession, taken: readonly string[] = []): Surroundings {
  return {
    refs: life.refs,
    headsElsewhere: [...headsElsewhere(life, session), ...taken],
    head: session.facts.get('HEAD'),
    workBranch: session.workBranch,
  };
}

/** The branches that other worktrees have checked out. */
function headsElsewhere(life: Life, session: LifeSession): string[] {
  const others = life.active().filter((other) => other !== session);
  const heads = others.map(({ facts }) => /^ref: (.*)$/.exec(facts.get('HEAD') ?? '')?.[1]);
  return ['refs/heads/main', ...heads.filter((head) => head !== undefined)];
}
