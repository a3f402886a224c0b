/** What a pull joins of two repositories: marks of agt review, who wrote accepted lines, rows of the log of all sessions. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { AGT, agt, agtOk, git, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { makeTwo, nextSecond } from './two.ts';

const FILES = ['one', 'two', 'three', 'four', 'five'];

function marksIn(repository: string): Record<string, string> {
  const hunks = JSON.parse(agtOk(repository, 'review', 's1', '--json')) as {
    path: string;
    state: string;
  }[];
  return Object.fromEntries(hunks.map(({ path, state }) => [path, state]));
}

test.each([
  ['2026-01-06T12:00:00+0100', 'seen'],
  ['2026-01-04T12:00:00+0100', 'rejected'],
])(
  'marks made here (%s) are joined with those that come; about one piece, the newer count: %s',
  (at, four) => {
    const { here, there } = makeTwo();
    const review = (...words: string[]) => {
      const env = { GIT_COMMITTER_DATE: at };
      expect(run(AGT, ['review', 's1', ...words], { cwd: here, env }).exitCode).toBe(0);
    };
    agtOk(here, 'session', 'new', '--id', 's1');
    for (const name of FILES) write(join(sessionOf(here, 's1').sandbox, name), `${name}\n`);
    agtOk(here, 'session', 'push', 's1');
    agtOk(there, 'session', 'pull', 's1', '--take');
    review('--seen', 'one');
    review('--seen', 'four');
    review('--reject', 'three', '--tell', '-m', 'not this one');
    agtOk(there, 'review', 's1', '--seen', 'two');
    agtOk(there, 'review', 's1', '--reject', 'four', '--tell', '-m', 'nor this one');
    agtOk(there, 'session', 'push', 's1');
    const [, place = ''] =
      /is away: it is (at .*, in .*)/.exec(agt(here, 'session', 'push', 's1').stderr) ?? [];
    expect(`${agtOk(here, 'list')}\n`).toContain(`  ${place}\n`);
    expect(`${agtOk(here, 'session', 'show', 's1')}\n`).toContain(`  ${place}\n`);
    expect(agt(here, 'review', 's1', '--seen', 'five', '-n').stderr).toMatch(
      /^note: session "s1" is away: it is at .*, in .*\n/,
    );
    agtOk(here, 'session', 'pull', 's1', '--take');
    expect(marksIn(here)).toMatchObject({ one: 'seen', two: 'seen', three: 'rejected', four, five: 'new' });
    // It travels on as one.
    agtOk(here, 'session', 'push', 's1', '--release');
    agtOk(there, 'session', 'pull', 's1');
    expect(marksIn(there)).toEqual(marksIn(here));
  },
);

test('a turn that came with a session is named so, and counts once where several repositories are asked', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  agtOk(here, 'autocommit', 's1', '--label', 'prompt: do it');
  write(join(sessionOf(here, 's1').sandbox, 'one'), 'one\n');
  agtOk(here, 'autocommit', 's1');
  agtOk(here, 'session', 'push', 's1', '--release');
  agtOk(there, 'session', 'pull', 's1');
  const turns = (cwd: string, ...words: string[]) => {
    const rows = agtOk(cwd, 'log', '--all-sessions', '--json', ...words);
    return JSON.parse(rows) as { prompt: string; pulled: boolean; repository: string }[];
  };
  expect(agtOk(there, 'log', '--all-sessions')).toMatch(/ \(pulled\) do it$/);
  expect(JSON.parse(agtOk(there, 'list', '--json'))).toMatchObject([
    { last_prompt: 'do it', agent_state: null },
  ]);
  expect(turns(there)).toMatchObject([{ prompt: 'do it', pulled: true }]);
  expect(turns(here)).toMatchObject([{ prompt: 'do it', pulled: false }]);
  const own = turns(here, '--everywhere').filter(({ repository }) => repository.startsWith(join(here, '..')));
  expect(own).toHaveLength(1);
  for (const cwd of [here, there]) {
    const rows = agtOk(cwd, 'search', '--everywhere', '--json', 'one', '--', join(cwd, 'one'));
    const places = (JSON.parse(rows) as { repository: string }[]).map(({ repository }) => repository);
    expect(places.filter((place) => place.startsWith(join(here, '..')))).toEqual([join(here, '.git')]);
  }
  agtOk(there, 'session', 'push', 's1', '--release');
  agtOk(here, 'session', 'pull', 's1');
  expect(turns(here)).toMatchObject([{ prompt: 'do it', pulled: false }]);
  agtOk(here, 'fork', 's1', '--id', 's2');
  write(join(sessionOf(here, 's2').sandbox, 'two'), 'two\n');
  agtOk(here, 'autocommit', 's2');
  agtOk(here, 'session', 'push', 's2', '--release');
  const third = join(there, '../third');
  git(here, 'clone', '-q', join(here, '../remote.git'), third);
  agtOk(third, 'session', 'pull', 's2');
  expect(turns(third)).toMatchObject([{ pulled: true }, { prompt: 'do it', pulled: true }]);
});

test('what became of a session is named pulled where it did not happen, and counts once as well', () => {
  const { here, there } = makeTwo();
  for (const id of ['landed', 'failed', 'rejected']) {
    agtOk(here, 'session', 'new', '--id', id);
    write(join(sessionOf(here, id).sandbox, id), `${id}\n`);
  }
  agtOk(here, 'accept', 'landed', '--untracked=all');
  agtOk(here, 'session', 'fail', 'failed', '--reason', 'no good');
  agtOk(here, 'reject', 'rejected');
  for (const id of ['landed', 'failed', 'rejected']) {
    agtOk(here, 'session', 'push', id);
    agtOk(there, 'session', 'pull', id, '--take');
  }
  const outcomes = (cwd: string, ...words: string[]) => {
    const rows = JSON.parse(agtOk(cwd, 'activity', '--json', ...words)) as {
      outcome: string | null;
      pulled: boolean;
      repository: string;
    }[];
    return rows
      .filter(({ outcome, repository }) => outcome !== null && repository.startsWith(join(here, '..')))
      .map(({ outcome, pulled, repository }) => [outcome, pulled, repository]);
  };
  const all = (pulled: boolean, cwd: string) =>
    ['rejected', 'failed', 'accepted'].map((outcome) => [outcome, pulled, join(cwd, '.git')]);
  expect(outcomes(here)).toEqual(all(false, here));
  expect(outcomes(there)).toEqual(all(true, there));
  expect(agtOk(there, 'activity')).toMatch(/ \(pulled\) failed: no good$/m);
  for (const cwd of [here, there]) expect(outcomes(cwd, '--everywhere')).toEqual(all(false, here));
  git(there, 'pull', '-q', here, 'main');
  agtOk(there, 'session', 'unaccept', 'landed');
  expect(outcomes(there, 'landed')).toEqual([
    ['unaccepted', false, join(there, '.git')],
    ['accepted', true, join(there, '.git')],
  ]);
  agtOk(there, 'accept', 'failed', '--untracked=all');
  expect(outcomes(there, 'failed')).toEqual([['accepted', false, join(there, '.git')]]);
});

test('after each hand-over, a turn is named pulled where it did not happen, and the agent hears what came', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const work = (cwd: string, prompt: string) => {
    const agent = agentIn(sessionOf(cwd, 's1').sandbox, 'claude-code', cwd === here ? 'h' : 't');
    const heard = agent.says(prompt);
    agent.begins('t1');
    write(join(sessionOf(cwd, 's1').sandbox, `by ${prompt}`), '');
    agent.ends('t1');
    return heard;
  };
  const pulled = (cwd: string) => {
    const rows = JSON.parse(agtOk(cwd, 'activity', '--json')) as { prompt: string; pulled: boolean }[];
    return Object.fromEntries(rows.map((row) => [row.prompt, row.pulled]));
  };
  const give = (from: string, to: string) => {
    agtOk(from, 'session', 'push', 's1', '--release');
    nextSecond();
    agtOk(to, 'session', 'pull', 's1');
  };
  work(here, 'one');
  give(here, there);
  work(there, 'two');
  give(there, here);
  expect(agtOk(here, 'list')).not.toContain('NOW');
  const heard = work(here, 'three');
  expect(heard).toContain('another repository meanwhile, which has changed these files: by two. They are');
  expect(work(here, 'four')).not.toContain('meanwhile');
  expect(agtOk(here, 'session', 'log', 's1')).toMatch(/ pulled$/m);
  expect(agtOk(here, 'session', 'log', 's1')).not.toContain('restored');
  give(here, there);
  expect(work(there, 'five')).toContain('meanwhile');
  expect(pulled(there)).toEqual({ one: true, two: false, three: true, four: true, five: false });
  agtOk(there, 'session', 'reject', 's1');
  agtOk(there, 'session', 'push', 's1');
  nextSecond();
  agtOk(here, 'session', 'pull', 's1', '--take');
  nextSecond();
  agtOk(here, 'undo', 's1');
  work(here, 'six');
  const mine = { one: false, two: true, three: false, four: false };
  expect(pulled(here)).toEqual({ ...mine, five: true, six: false });
});

test('marks of a session stay that comes back without any', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  write(join(sessionOf(here, 's1').sandbox, 'one'), 'one\n');
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  agtOk(here, 'review', 's1', '--seen', 'one');
  agtOk(there, 'session', 'push', 's1', '--release');
  agtOk(here, 'session', 'pull', 's1', '--take');
  expect(marksIn(here)).toEqual({ one: 'seen' });
});

test('marks that one side has taken back do not come back with those of the other', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  for (const name of ['one', 'two', 'three']) write(join(sessionOf(here, 's1').sandbox, name), `${name}\n`);
  agtOk(here, 'review', 's1', '--seen', 'one', '--seen', 'two');
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  agtOk(there, 'review', 's1', '--new', 'one');
  agtOk(there, 'review', 's1', '--seen', 'three');
  agtOk(there, 'session', 'push', 's1', '--release');
  agtOk(here, 'session', 'pull', 's1');
  expect(marksIn(here)).toEqual({ one: 'new', two: 'seen', three: 'seen' });
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  agtOk(here, 'review', 's1', '--new', 'two');
  agtOk(here, 'session', 'pull', 's1', '--take');
  expect(marksIn(here)).toEqual({ one: 'new', two: 'new', three: 'seen' });
});

test('work by hand after a pull is of no agent, and what only a fork has is of the fork', () => {
  const { here, there } = makeTwo();
  const work = (repository: string, id: string, path: string) => {
    write(join(sessionOf(repository, id).sandbox, path), `${path}\n`);
    agtOk(repository, 'autocommit', id);
  };
  agtOk(here, 'session', 'new', '--id', 's1');
  const agent = agentIn(sessionOf(here, 's1').sandbox, 'claude-code', 'c');
  agent.says('do it');
  agent.begins('t1');
  write(join(sessionOf(here, 's1').sandbox, 'one'), 'one\n');
  agent.ends('t1');
  agtOk(here, 'session', 'push', 's1');
  const file = join(here, '../s1.agt');
  agtOk(here, 'session', 'bundle', 's1', file);
  agtOk(here, 'session', 'open', file, '--as', 'copy');
  work(here, 'copy', 'hand');
  nextSecond();
  agtOk(there, 'session', 'pull', 's1', '--take');
  work(there, 's1', 'two');
  agtOk(there, 'session', 'push', 's1');
  work(here, 's1', 'stray');
  nextSecond();
  agtOk(here, 'session', 'pull', 's1', '--take');
  const rows = agtOk(here, 'log', '--all-sessions');
  const table = rows.split('\n').map((line) => line.split(/ {2,}/).slice(1).join(' '));
  expect(table.toSorted()).toEqual([
    'SESSION AGENT FILES WHAT',
    'copy - 1 (no agent) changed hand',
    's1 - 1 (pulled, no agent) changed two',
    's1 claude 1 do it',
    's1-2 - 1 (no agent) changed stray',
  ]);
  const found = (text: string) => JSON.parse(agtOk(here, 'search', text, '--json'));
  const other = { author: 'other', agent: null };
  expect(found('stray')).toMatchObject([{ ...other, session_id: 's1-2' }]);
  expect(found('hand')).toMatchObject([{ ...other, session_id: 'copy' }]);
});

test('agt blame knows the turns of what was accepted in either repository', () => {
  const { here, there } = makeTwo();
  const turn = (cwd: string, path: string) => {
    const { sandbox } = sessionOf(cwd, 's1');
    const agent = agentIn(sandbox, 'claude-code', path);
    agent.says(path);
    agent.begins(path);
    write(join(sandbox, path), `${path}\n`);
    agent.ends(path);
    agent.stops();
  };
  const accept = (cwd: string) => {
    git(cwd, 'pull', '-q', 'origin', 'main');
    agtOk(cwd, 'accept', 's1', '--keep');
    git(cwd, 'push', '-q', 'origin', 'main');
  };
  const calls = (cwd: string, ...paths: string[]) =>
    paths.map((path) => JSON.parse(agtOk(cwd, 'blame', '--json', path))[0].origin?.call);
  agtOk(here, 'session', 'new', '--id', 's1');
  turn(here, 'one');
  accept(here);
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  turn(there, 'two');
  agtOk(there, 'session', 'push', 's1');
  accept(there);
  agtOk(here, 'session', 'pull', 's1', '--take');
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  expect(calls(there, 'one', 'two')).toEqual(['one', 'two']);
  turn(there, 'three');
  accept(there);
  agtOk(here, 'session', 'pull', 's1', '--take');
  turn(here, 'four');
  accept(here);
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  git(there, 'pull', '-q', 'origin', 'main');
  const all = ['one', 'two', 'three', 'four'];
  expect(calls(there, ...all)).toEqual(all);
  agtOk(there, 'session', 'push', 's1', '--release');
  agtOk(here, 'session', 'pull', 's1');
  expect(calls(here, ...all)).toEqual(all);
});
