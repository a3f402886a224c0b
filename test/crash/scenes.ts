/** The commands to kill: for each a repository in which it takes all of its steps, and the conditions afterwards. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agt, agtOk, git, write } from '../harness/world.ts';

/** `repository` has the session s1 with two snapshots and an uncaptured file. */
export interface Place {
  readonly repository: string;
  readonly sandbox: string;
}

export interface Scene {
  readonly name: string;
  readonly prepare: (place: Place) => void;
  readonly command: readonly string[];
  /** Runs after all repairs. Throws if something is lost or a command fails. */
  readonly check: (place: Place) => void;
}

const NEWEST = 'uncaptured\n';

/** A file that no snapshot had before the command, and that no kill may lose. */
export function newestIsKept({ repository, sandbox }: Place): void {
  if (stateOf(repository, 's1') !== 'active') agtOk(repository, 'session', 'restore', 's1', '--to', '@{0}');
  if (existsSync(join(sandbox, 'newest')) && readFileSync(join(sandbox, 'newest'), 'utf8') === NEWEST) return;
  const states = git(repository, 'rev-list', '--first-parent', 'refs/agt/tip/s1', '^main').split('\n');
  const held = states.some(
    (commit) => agt(repository, 'session', 'cat', 's1', `${commit}:newest`).stdout === NEWEST,
  );
  if (!held) throw new Error('what was on disk is neither there nor in any state');
}

export function stateOf(repository: string, id: string): string | undefined {
  const path = join(repository, '.git/agt/sessions', `${id}.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).state : undefined;
}

/** The other session is complete or absent, and its id can be used. */
function secondIsThere(make: readonly string[], has: string) {
  return (place: Place) => {
    const { repository, sandbox } = place;
    if (stateOf(repository, 's2') === undefined) agtOk(repository, ...make);
    if (stateOf(repository, 's2') !== 'active') throw new Error('s2 is not active');
    if (!existsSync(join(sandbox, '../../s2/sandbox', has))) throw new Error(`s2 has no ${has}`);
    newestIsKept(place);
  };
}

/** Whatever was interrupted, the first snapshot can be restored. */
function firstComesBack(place: Place): void {
  newestIsKept(place);
  const { repository, sandbox } = place;
  const to = readFileSync(join(repository, '.git/first-state'), 'utf8');
  agtOk(repository, 'session', 'restore', 's1', '--to', to);
  const text = readFileSync(join(sandbox, 'a'), 'utf8');
  if (text !== 'first\n') throw new Error(`a is ${JSON.stringify(text)} in the first state`);
}

const asItIs = () => {};

const NEW = ['session', 'new', '--id', 's2', '--with-changes'];
const CHANGED = 'changed by the user\n';
const FORK = ['session', 'fork', '--from', 's1', '--id', 's2'];

const NEW_IN_PLACE = ['session', 'new', 's2', '--working-copy', 'in-place'];

/** Uncommitted work in the user's own checkout. */
function userWorks({ repository }: Place): void {
  write(join(repository, 'a'), 'staged by the user\n');
  git(repository, 'add', 'a');
  write(join(repository, 'a'), 'not staged\n');
  write(join(repository, 'new/untracked'), 'untracked\n', 0o600);
}

/** It is there, on the user's branch, when the session that was begun in the checkout has ended. */
function userHasAll(place: Place): void {
  const { repository } = place;
  if (stateOf(repository, 's2') === 'active') agtOk(repository, 'session', 'remove', 's2');
  const found = [
    git(repository, 'symbolic-ref', 'HEAD'),
    git(repository, 'status', '--porcelain'),
    git(repository, 'show', ':a'),
    readFileSync(join(repository, 'a'), 'utf8'),
    readFileSync(join(repository, 'new/untracked'), 'utf8'),
  ];
  const wanted = ['refs/heads/main', 'MM a\n?? new/', 'staged by the user', 'not staged\n', 'untracked\n'];
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`the user has ${JSON.stringify(found)}`);
  newestIsKept(place);
}

function agentLosesNothing(place: Place): void {
  userHasAll(place);
  const held = agt(place.repository, 'session', 'log', 's2', '--json');
  const commits = (JSON.parse(held.stdout) as { commit: string }[]).map(({ commit }) => commit);
  const reads = commits.map((commit) => agt(place.repository, 'session', 'cat', 's2', `${commit}:by agent`));
  if (!reads.some(({ stdout }) => stdout === NEWEST)) throw new Error('the work of the agent is lost');
}

export const SCENES: readonly Scene[] = [
  {
    name: 'session new',
    prepare: ({ repository }) => {
      write(join(repository, 'a'), CHANGED);
      write(join(repository, 'of-the-user'), 'untracked\n');
    },
    command: NEW,
    check: (place) => {
      const status = git(place.repository, 'status', '--porcelain');
      if (status !== ' M a\n?? of-the-user') throw new Error(`the worktree of the user is ${status}`);
      secondIsThere(NEW, '.env')(place);
      const path = join(place.sandbox, '../../s2/sandbox/a');
      if (readFileSync(path, 'utf8') !== CHANGED) throw new Error('s2 lacks a change of the user');
    },
  },
  {
    name: 'autocommit',
    prepare: asItIs,
    command: ['autocommit', '--session-id', 's1'],
    check: firstComesBack,
  },
  { name: 'session fork', prepare: asItIs, command: FORK, check: secondIsThere(FORK, 'newest') },
  {
    name: 'session restore',
    prepare: asItIs,
    command: ['session', 'restore', 's1', '--to', '@{1}'],
    check: firstComesBack,
  },
  {
    name: 'session restore of a removed session',
    prepare: ({ repository }) => agtOk(repository, 'session', 'remove', '--id', 's1'),
    command: ['session', 'restore', 's1', '--to', '@{0}'],
    check: firstComesBack,
  },
  { name: 'session undo', prepare: asItIs, command: ['session', 'undo', 's1'], check: firstComesBack },
  {
    name: 'session remove',
    prepare: asItIs,
    command: ['session', 'remove', '--id', 's1'],
    check: firstComesBack,
  },
  {
    name: 'session remove with its branches',
    prepare: ({ repository }) => agtOk(repository, ...FORK),
    command: ['session', 'remove', '--id', 's2', '--delete-branch', '--force'],
    check: newestIsKept,
  },
  { name: 'session new in place', prepare: userWorks, command: NEW_IN_PLACE, check: userHasAll },
  {
    name: 'session remove in place',
    prepare: (place) => {
      userWorks(place);
      agtOk(place.repository, ...NEW_IN_PLACE);
      write(join(place.repository, 'a'), 'by the agent\n');
      write(join(place.repository, 'by agent'), NEWEST);
    },
    command: ['session', 'remove', 's2'],
    check: agentLosesNothing,
  },
  {
    name: 'session undo in place',
    prepare: (place) => {
      userWorks(place);
      agtOk(place.repository, ...NEW_IN_PLACE);
      write(join(place.repository, 'by agent'), 'first\n');
      agtOk(place.repository, 'autocommit', 's2');
      write(join(place.repository, 'by agent'), NEWEST);
      git(place.repository, 'add', 'by agent');
    },
    command: ['session', 'undo', 's2'],
    check: agentLosesNothing,
  },
  {
    name: 'gc',
    prepare: ({ repository, sandbox }) => {
      agtOk(repository, ...FORK);
      agtOk(repository, 'session', 'remove', '--id', 's2');
      longAgo(repository, 's2');
      for (const text of ['third\n', 'fourth\n']) {
        write(join(sandbox, 'a'), text);
        agtOk(repository, 'autocommit', '--session-id', 's1');
      }
      git(repository, 'repack', '-d', '-q');
      rmSync(join(repository, '.git/first-state'));
    },
    command: ['gc', '--thin', '--prune=now'],
    check: newestIsKept,
  },
];

/** Dates the removal of the session back by 40 days. */
function longAgo(repository: string, id: string): void {
  const path = join(repository, '.git/agt/sessions', `${id}.json`);
  const record = JSON.parse(readFileSync(path, 'utf8'));
  const at = new Date(Date.now() - 40 * 86_400_000).toISOString();
  writeFileSync(path, JSON.stringify({ ...record, last_activity_at: at }));
}

/** Conditions of every scene. */
export function makePlace(repository: string): Place {
  write(join(repository, '.gitignore'), '.env\n');
  write(join(repository, '.worktreeinclude'), '.env\n');
  write(join(repository, 'a'), 'from the user\n');
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'second');
  write(join(repository, '.env'), 'SECRET=1\n');
  rmSync(join(repository, '.git/hooks'), { recursive: true, force: true });
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--json')) as Place;
  const { folder } = { folder: join(sandbox, '..') };
  write(join(sandbox, 'a'), 'first\n');
  write(join(sandbox, 'only-first/b'), 'b\n');
  write(join(folder, 'xdg/log'), 'log\n');
  const { commit } = JSON.parse(agtOk(repository, 'autocommit', '--session-id', 's1', '--json'));
  write(join(repository, '.git/first-state'), commit);
  write(join(sandbox, 'a'), 'second\n');
  rmSync(join(sandbox, 'only-first'), { recursive: true });
  agtOk(repository, 'autocommit', '--session-id', 's1');
  write(join(sandbox, 'staged'), 'staged\n');
  git(sandbox, 'add', 'staged');
  write(join(sandbox, 'newest'), NEWEST);
  return { repository, sandbox };
}
