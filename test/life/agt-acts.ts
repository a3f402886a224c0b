import { stays } from './compare.ts';
import { afterFork, compareWith, isSame } from './expected.ts';
import type { Facts } from './facts.ts';
import type { Life, LifeSession } from './life.ts';
import { parseJson } from './programs.ts';
import { commitsStay, gitShowsNoAgent, storeIsWhole, usersThings, usersThingsStay } from './promises.ts';
import { removeAct } from './remove-acts.ts';
import { moveAct, restoreAct } from './restore-acts.ts';

export interface AgtStep {
  readonly name: string;
  readonly weight: number;
  readonly act: (life: Life, session: LifeSession) => void;
}

/** More sessions than that make a life slow. */
const MOST_SESSIONS = 4;

export const AGT_STEPS: readonly AgtStep[] = [
  { name: 'autocommit', weight: 8, act: autocommitAct },
  { name: 'restore', weight: 5, act: restoreAct },
  { name: 'undo', weight: 4, act: (life, session) => moveAct(life, session, 'undo') },
  { name: 'redo', weight: 2, act: (life, session) => moveAct(life, session, 'redo') },
  { name: 'fork', weight: 0.8, act: forkAct },
  { name: 'session new', weight: 0.3, act: newAct },
  { name: 'gc', weight: 0.7, act: gcAct },
  { name: 'remove and restore', weight: 1.2, act: removeAct },
  { name: 'restore --path of nothing', weight: 0.3, act: restoreNothing },
  { name: 'look around', weight: 0.7, act: lookAround },
];

function autocommitAct(life: Life, session: LifeSession): void {
  const label = life.random.chance(0.1) ? ['--label', `label ${life.random.below(5)}`] : [];
  const before = session.facts;
  const users = usersThings(life, life.refs);
  const last = life.snapshots.get(session.chain.at(-1)?.commit ?? '');
  const report = parseJson<{ outcome: string; failed: unknown[] }>(
    life.agtOk(['autocommit', '--session-id', session.id, '--json', ...label]),
  );
  life.look(session);
  life.takeIn(session, before);
  usersThingsStay(users, usersThings(life, life.refs));
  stays(session, before, 'an autocommit');
  if (report.failed.length > 0) throw new Error(`could not capture ${JSON.stringify(report.failed)}`);
  if (report.outcome === 'unchanged' && last !== undefined && !isSame(last, before))
    throw new Error(
      `nothing changed, says agt:\n${compareWith({ facts: last, ignore: () => false }, before).join('\n')}`,
    );
}

function forkAct(life: Life, session: LifeSession): void {
  if (life.sessions.length >= MOST_SESSIONS) return;
  const { random } = life;
  const link = random.chance(0.5) && session.chain.length > 0 ? random.pick(session.chain) : undefined;
  const id = life.nextId();
  const at = link === undefined ? [] : ['--at', link.commit];
  const before = session.facts;
  const users = usersThings(life, life.refs);
  const made = life.agtOk(['session', 'fork', '--from', session.id, '--id', id, ...at, '--json']);
  life.look(session);
  life.takeIn(session, before);
  stays(session, before, 'a fork');
  const end = link === undefined ? session.chain.length : session.chain.indexOf(link) + 1;
  const { sandbox } = parseJson<{ sandbox: string }>(made);
  const fork = life.addSession(id, sandbox, session.chain.slice(0, end));
  life.takeIn(fork, fork.facts);
  usersThingsStay(users, usersThings(life, life.refs));
  const source = link === undefined ? before : (life.snapshots.get(link.commit) as Facts);
  const problems = compareWith(afterFork(source), fork.facts);
  if (problems.length > 0) throw new Error(`the fork ${id} is not as its source:\n${problems.join('\n')}`);
}

function newAct(life: Life): void {
  if (life.sessions.length < MOST_SESSIONS) life.newSession();
}

function gcAct(life: Life, session: LifeSession): void {
  const options = [[], ['--thin'], ['--prune=now'], ['--thin', '--prune=now']];
  const before = session.facts;
  const users = usersThings(life, life.refs);
  life.agtOk(['gc', ...life.random.pick(options)]);
  life.look(session);
  life.takeIn(session, before);
  stays(session, before, 'agt gc');
  usersThingsStay(users, usersThings(life, life.refs));
  snapshotsStay(life);
}

/** agt gc keeps every snapshot of the last day. */
function snapshotsStay(life: Life): void {
  const commits = life.sessions.flatMap(({ chain }) => chain.map(({ commit }) => commit));
  commitsStay(life, commits, 'a snapshot');
}

function restoreNothing(life: Life, session: LifeSession): void {
  const commit = session.chain.at(-1)?.commit;
  if (commit === undefined) return;
  const { exitCode } = life.agt([
    'session',
    'restore',
    session.id,
    '--to',
    commit,
    '--path',
    'nosuch',
    '--json',
  ]);
  if (exitCode === 0) throw new Error('a restore of a path that is nowhere succeeds');
  const before = session.facts;
  life.look(session);
  life.takeIn(session, before);
}

/** Commands that change nothing. */
function lookAround(life: Life, session: LifeSession): void {
  const { random } = life;
  const commit = session.chain.length === 0 ? undefined : random.pick(session.chain).commit;
  const looking = [
    ['status'],
    ['session', 'list', '--json'],
    ['session', 'show', session.id],
    ['session', 'log', session.id, '--stat'],
    ['session', 'diff', session.id, '--stat'],
    ['du'],
    ['doctor'],
    ...(commit === undefined ? [] : [['session', 'diff', session.id, commit, '--stat']]),
    ...(commit === undefined ? [] : [['session', 'restore', session.id, '--to', commit, '--dry-run']]),
    ['autocommit', '--session-id', session.id, '--dry-run'],
  ];
  const before = session.facts;
  const refs = life.refs;
  life.agtOk(random.pick(looking));
  life.look(session);
  stays(session, before, 'looking');
  if (JSON.stringify([...refs]) !== JSON.stringify([...life.refs])) throw new Error('looking moved a ref');
}

export function promisesHold(life: Life): void {
  storeIsWhole(life.repository);
  gitShowsNoAgent(life);
}
