/** Restores, undos and redos, each compared with what the snapshot recorded. */
import {
  afterPartialRestore,
  afterRestore,
  compareWith,
  type Expectation,
  isSame,
  moveTarget,
  surroundings,
} from './expected.ts';
import type { Facts } from './facts.ts';
import type { Life, LifeSession, Link } from './life.ts';
import { type Outcome, ok, parseJson, REAL_GIT, run } from './programs.ts';
import { commitsStay, indexIsWhole, usersThings, usersThingsStay } from './promises.ts';

interface RestoreReport {
  readonly snapshot: string;
  readonly before?: string;
  readonly commit: string;
  readonly mismatches: readonly string[];
}

/** Restores a snapshot as a whole. */
export function restoreTo(life: Life, session: LifeSession, commit: string): void {
  const snapshot = life.snapshots.get(commit);
  if (snapshot === undefined) throw new Error(`${commit} was never recorded`);
  const expectation = afterRestore(snapshot, surroundings(life, session));
  carryOut(life, session, ['session', 'restore', session.id, '--to', commit, '--json'], expectation);
}

export function restoreAct(life: Life, session: LifeSession): void {
  const { random } = life;
  if (session.chain.length === 0) return;
  const { commit } = random.pick(session.chain);
  if (random.chance(0.75)) restoreTo(life, session, commit);
  else restorePart(life, session, commit);
}

function restorePart(life: Life, session: LifeSession, commit: string): void {
  const { random } = life;
  const snapshot = life.snapshots.get(commit) as Facts;
  const restore = (chosen: string, ...options: string[]) =>
    carryOut(
      life,
      session,
      ['session', 'restore', session.id, '--to', commit, ...options, '--json'],
      afterPartialRestore(snapshot, session.facts, [chosen]),
    );
  const folder = random.pick(['xdg', 'config']);
  const path = pathFor(life, snapshot, session.facts);
  if (random.chance(0.4)) restore(folder, '--only', folder);
  else if (path !== undefined) restore(`sandbox/${path}`, `--path=${path}`);
}

/** A path that can be an argument. */
function pathFor(life: Life, ...from: Facts[]): string | undefined {
  const keys = from
    .flatMap((facts) => [...facts.keys()])
    .filter((key) => /^file sandbox\/[\x20-\x7e]+$/.test(key));
  const paths = [...new Set(keys.map((key) => key.slice('file sandbox/'.length)))].sort();
  // The other folders of the session can be named in front of a path.
  const plain = paths.filter((path) => !/^(-|xdg|config|sandbox)/.test(path) && path.length < 200);
  return plain.length === 0 ? undefined : life.random.pick(plain);
}

export function moveAct(life: Life, session: LifeSession, by: 'undo' | 'redo'): void {
  const target = moveTarget(life, session, by);
  const args = ['session', by, session.id, '--json'];
  if (target === undefined) moveIsRefused(life, session, by, args);
  else carryOut(life, session, args, afterRestore(target, surroundings(life, session)), by);
}

function moveIsRefused(life: Life, session: LifeSession, by: string, args: readonly string[]): void {
  const before = session.facts;
  const { exitCode, stdout, stderr } = life.agt(args);
  if (exitCode === 0 || !stderr.includes(`nothing to ${by}`))
    throw new Error(`there is nothing to ${by}, but: ${exitCode}\n${stdout}${stderr}`);
  life.look(session);
  life.takeIn(session, before);
  if (!isSame(before, session.facts)) throw new Error(`the refused ${by} changed the session`);
}

/** Restores a removed session. `taken`: branches that the main worktree has checked out. */
export function comeBack(life: Life, session: LifeSession, taken: readonly string[]): void {
  const { random } = life;
  const { commit } = random.chance(0.6) ? (session.chain.at(-1) as Link) : random.pick(session.chain);
  const snapshot = life.snapshots.get(commit) as Facts;
  const work = life.refs.get(session.workBranch);
  const around = surroundings(life, session, taken);
  const isTaken = around.headsElsewhere.includes(session.workBranch);
  const goesOn = !isTaken && isNewest(life, session, commit) && isOnTop(life, work, snapshot);
  const expectation = afterRestore(goesOn ? withTip(snapshot, work) : snapshot, around);
  const users = usersThings(life, life.refs);
  const outcome = life.agt(['session', 'restore', session.id, '--to', commit, '--json']);
  session.isEnded = false;
  finish(life, session, outcome, expectation, withKeptCommit(life, session, work));
  usersThingsStay(users, usersThings(life, life.refs));
  commitsStay(life, [work], 'after the restore of a removed session');
}

/** It stands for the session as it was when it ended. */
function isNewest(life: Life, { chain }: LifeSession, commit: string): boolean {
  const last = chain.at(-1);
  const head = (of: string | undefined) => life.snapshots.get(of ?? '')?.get('HEAD commit');
  return [last?.commit, last?.restored].includes(commit) && head(commit) === head(last?.commit);
}

/** Somebody has committed on the work branch since. */
function isOnTop(life: Life, work: string | undefined, snapshot: Facts): work is string {
  const head = snapshot.get('HEAD commit');
  if (work === undefined || head === undefined || head === work || snapshot.get('work branch') !== head)
    return false;
  return run(REAL_GIT, ['merge-base', '--is-ancestor', head, work], life.repository).exitCode === 0;
}

/** The commit has the tree of the one below it. */
function withTip(snapshot: Facts, work: string): Facts {
  const isOnBranch = snapshot.get('HEAD') === 'the work branch';
  return new Map([
    ...snapshot,
    ['work branch', work],
    ...(isOnBranch ? [['HEAD commit', work] as const] : []),
  ]);
}

/**
 * If nothing else keeps the work branch of a removed session, the restore begins with a snapshot of it: the files are those
 * of the last snapshot.
 */
function withKeptCommit(life: Life, { chain }: LifeSession, commit: string | undefined): Facts {
  const last = life.snapshots.get(chain.at(-1)?.commit ?? '') ?? new Map<string, string>();
  const facts = new Map([...last].filter(([key]) => key.startsWith('file ')));
  if (commit === undefined) return facts;
  for (const key of ['HEAD', 'HEAD commit', 'work branch']) facts.set(key, commit);
  const listed = ok(REAL_GIT, ['ls-tree', '-r', '-z', commit], life.repository);
  for (const [, mode, oid, path] of listed.matchAll(/(\d{6}) \w+ ([0-9a-f]+)\t([^\0]*)\0/g))
    facts.set(`index 0 ${path}`, `H 0 ${mode} ${oid}`);
  return facts;
}

function carryOut(
  life: Life,
  session: LifeSession,
  args: readonly string[],
  expectation: Expectation,
  by?: 'undo' | 'redo',
): void {
  const before = session.facts;
  const users = usersThings(life, life.refs);
  const outcome = life.agt(args);
  finish(life, session, outcome, expectation, before, by);
  usersThingsStay(users, usersThings(life, life.refs));
  commitsStay(life, [before.get('HEAD commit'), before.get('work branch')], `after agt ${args.join(' ')}`);
}

function finish(
  life: Life,
  session: LifeSession,
  outcome: Outcome,
  expectation: Expectation,
  before: Facts,
  by?: 'undo' | 'redo',
): void {
  if (outcome.stdout === '') throw new Error(`exit code ${outcome.exitCode}\n${outcome.stderr}`);
  const report = parseJson<RestoreReport>(outcome.stdout);
  const isAsTold =
    outcome.exitCode === (expectation.named.length === 0 ? 0 : 1) &&
    report.mismatches.join() === expectation.named.join();
  if (!isAsTold) throw new Error(`exit code ${outcome.exitCode}\n${outcome.stdout}${outcome.stderr}`);
  life.look(session);
  // With later commits of the branch, which come after the restored state, another snapshot follows.
  const restored = life.snapshots.get(report.snapshot) ?? session.facts;
  const known = new Map([
    [report.commit, restored],
    [life.tip(session), session.facts],
  ]);
  life.takeIn(session, before, known, { restored: report.snapshot, ...(by === undefined ? {} : { by }) });
  life.counts.restores++;
  const problems = compareWith(expectation, session.facts);
  if (problems.length > 0)
    throw new Error(`not as it was in ${report.snapshot}:\n${problems.slice(0, 20).join('\n')}`);
  indexIsWhole(life, session.facts);
}
