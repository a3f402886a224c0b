/** agt blame where several sessions, several commits or several agents met in one file. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn, sessionOf } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const LINES = Array.from({ length: 12 }, (_, i) => `line ${i}\n`);
const withLines = (lines: Readonly<Record<number, string>>) =>
  LINES.map((line, i) => (lines[i] === undefined ? line : `${lines[i]}\n`)).join('');

/** `session agent turn call` of each line that an agent, or nobody known, has written. */
const told = (cwd: string, file: string) =>
  (JSON.parse(agtOk(cwd, 'blame', '--json', file)) as { content: string; origin: Record<string, unknown> }[])
    .filter(({ origin }) => origin !== null && origin['by'] !== 'other')
    .map(({ content, origin }) => {
      const { session, by, agent, turn, call } = origin;
      return `${content}: ${[session, by === 'agent' ? agent : by, turn, call].join(' ')}`;
    });

function calls(cwd: string, name: string, ...works: (() => void)[]) {
  const agent = agentIn(cwd, 'claude-code', name);
  agent.says('a prompt');
  for (const [i, work] of works.entries()) {
    agent.begins(`${name}-${i}`);
    work();
    agent.ends(`${name}-${i}`);
  }
}

const BOTH = ['of 1: s1 claude 1 one-0', 'of 2: s2 claude 1 two-0'];

test('a sync brings lines of another session into a sandbox, and people join the commits of both', () => {
  const { repository, sandbox, id } = makeSession({ f: LINES.join('') });
  const put = (cwd: string, lines: Record<number, string>) => writeFileSync(join(cwd, 'f'), withLines(lines));
  const second = sessionIn(repository, 's2');
  calls(sandbox, 'one', () => put(sandbox, { 1: 'of 1' }));
  calls(second.sandbox, 'two', () => put(second.sandbox, { 9: 'of 2' }));
  agtOk(repository, 'accept', second.id);
  git(sandbox, 'commit', '-qam', 'work');
  agtOk(repository, 'sync', id);
  expect(told(sandbox, 'f')).toEqual(BOTH);
  agtOk(repository, 'accept', id);
  expect(told(repository, 'f')).toEqual(BOTH);
  // The message of the second commit, and the name of its session, is gone.
  const env = { GIT_SEQUENCE_EDITOR: "sed -i -e '2,$s/^pick/fixup/'" };
  expect(run(REAL_GIT, ['rebase', '-q', '-i', 'HEAD~2'], { cwd: repository, env }).exitCode).toBe(0);
  expect(git(repository, 'rev-list', '--count', 'HEAD')).toBe('2');
  expect(told(repository, 'f')).toEqual(BOTH);
});

test('an accepted fork: lines from before are of the session that wrote them, as it counts its turns', () => {
  const { repository, sandbox, id } = makeSession({ f: LINES.join('') });
  const put = (cwd: string, lines: Record<number, string>) => writeFileSync(join(cwd, 'f'), withLines(lines));
  calls(sandbox, 'one', () => put(sandbox, { 1: 'of 1' }));
  agtOk(repository, 'fork', id, '--id', 's2');
  const fork = sessionOf(repository, 's2').sandbox;
  calls(fork, 'two', () => put(fork, { 1: 'of 1', 9: 'of 2' }));
  const both = ['of 1: s1 claude 1 one-0', 'of 2: s2 claude 2 two-0'];
  expect(told(fork, 'f')).toEqual(both);
  agtOk(repository, 'accept', 's2');
  expect(told(repository, 'f')).toEqual(both);
});

test('commits that a fork has from before it stay of the agent when the other session loses them', () => {
  const { repository, sandbox, id } = makeSession({ f: LINES.join('') });
  const put = () => writeFileSync(join(sandbox, 'f'), withLines({ 1: 'of 1' }));
  calls(sandbox, 'one', put, () => git(sandbox, 'commit', '-qam', 'work'));
  agtOk(repository, 'fork', id, '--id', 's2');
  agtOk(sandbox, 'undo', '--turn');
  git(repository, 'merge', '-q', 'agt/s2');
  for (const cwd of [repository, sessionOf(repository, 's2').sandbox])
    expect(told(cwd, 'f')).toEqual(BOTH.slice(0, 1));
});

test.each([
  ['takes the side of the branch', [], ['git', 'commit', '-qa', '--no-edit']],
  [
    'brings back what a commit deleted',
    ['--rebase'],
    ['git', '-c', 'core.editor=true', 'rebase', '--continue'],
  ],
])('a person solves a conflict of a sync, and %s', (_, how, [, ...go]) => {
  const { repository, sandbox, id } = makeSession({ f: LINES.join('') });
  const put = (cwd: string, lines: Record<number, string>) => writeFileSync(join(cwd, 'f'), withLines(lines));
  const commit = () => git(sandbox, 'commit', '-qam', 'work');
  const second = sessionIn(repository, 's2');
  calls(second.sandbox, 'two', () => put(second.sandbox, { 5: 'of 2' }));
  agtOk(repository, 'accept', second.id);
  calls(sandbox, 'one', () => put(sandbox, { 5: 'of 1', 9: 'deleted' }));
  commit();
  calls(sandbox, 'later', () => put(sandbox, { 5: 'later' }));
  commit();
  expect(agt(repository, 'sync', id, ...how).exitCode).toBe(1);
  const isRebase = how.length > 0;
  const mine = isRebase ? { 9: 'deleted' } : {};
  while (git(sandbox, 'ls-files', '--unmerged') !== '') {
    put(sandbox, { 5: 'of 2', ...mine });
    git(sandbox, 'add', 'f');
    run(REAL_GIT, go, { cwd: sandbox });
  }
  const expected = ['of 2: s2 claude 1 two-0', ...(isRebase ? ['deleted: s1 claude 1 one-0'] : [])];
  expect(told(sandbox, 'f')).toEqual(expected);
  agtOk(sandbox, 'autocommit');
  expect(told(sandbox, 'f')).toEqual(expected);
});

test('a person solves a conflict so that both lines stand: each is of the one that wrote it', () => {
  const { repository, sandbox, id } = makeSession({ f: LINES.join('') });
  const put = (cwd: string, lines: Record<number, string>) => writeFileSync(join(cwd, 'f'), withLines(lines));
  calls(sandbox, 'one', () => put(sandbox, { 5: 'of 1' }));
  git(sandbox, 'commit', '-qam', 'work');
  put(repository, { 4: 'of a person' });
  git(repository, 'commit', '-qam', 'own work');
  expect(agt(repository, 'sync', id).exitCode).toBe(1);
  const ofFirst = ['of 1: s1 claude 1 one-0'];
  // Between the marks of the conflict, they stood the other way round.
  calls(sandbox, 'later', () => put(sandbox, { 4: 'of a person', 5: 'of 1' }));
  expect(told(sandbox, 'f')).toEqual(ofFirst);
  put(sandbox, { 2: 'solved', 4: 'of a person', 5: 'of 1' });
  expect(told(sandbox, 'f')).toEqual(ofFirst);
  git(sandbox, 'commit', '-qam', 'both');
  expect(told(sandbox, 'f')).toEqual(ofFirst);
  agtOk(repository, 'accept', id);
  expect(told(repository, 'f')).toEqual(ofFirst);
});

test('people merge the commits of an agent by themselves, some after a sync', () => {
  const { repository, sandbox } = makeSession({ f: LINES.join('') });
  const put = (cwd: string, lines: Record<number, string>) => writeFileSync(join(cwd, 'f'), withLines(lines));
  const commit = (cwd: string) => git(cwd, 'commit', '-qam', 'work');
  calls(
    sandbox,
    'one',
    () => put(sandbox, { 1: 'of 1' }),
    () => commit(sandbox),
  );
  expect(told(repository, 'f')).toEqual([]);
  git(repository, 'merge', '-q', 'agt/s1');
  expect(told(repository, 'f')).toEqual(['of 1: s1 claude 1 one-0']);
  put(repository, { 1: 'of 1', 9: 'of a person' });
  commit(repository);
  agtOk(repository, 'sync', 's1', '--rebase');
  calls(sandbox, 'one', () => put(sandbox, { 1: 'of 1', 5: 'later', 9: 'of a person' }));
  commit(sandbox);
  agtOk(sandbox, 'autocommit');
  git(repository, 'merge', '-q', '--no-ff', '-m', 'by hand', 'agt/s1');
  expect(told(repository, 'f')).toEqual(['of 1: s1 claude 1 one-0', 'later: s1 claude 2 one-0']);
});

test.each([
  ['merged', ['merge', '-q', 'agt/s1']],
  ['copied', ['cherry-pick', 'agt/s1']],
  ['squashed', ['merge', '-q', '--squash', 'agt/s1']],
])(
  'commits of an agent that people have %s by themselves stay its, whatever sessions begin there',
  (how, words) => {
    const { repository, sandbox } = makeSession({ f: LINES.join('') });
    const second = sessionIn(repository, 's2');
    const put = (cwd: string, lines: Record<number, string>) =>
      writeFileSync(join(cwd, 'f'), withLines(lines));
    const commit = (cwd: string) => git(cwd, 'commit', '-qam', 'work');
    const work = [() => put(sandbox, { 1: 'of 1' }), () => commit(sandbox)];
    calls(sandbox, 'one', ...work);
    if (how !== 'merged') git(repository, 'commit', '-q', '--allow-empty', '-m', 'other');
    git(repository, ...words);
    if (how === 'squashed') git(repository, 'commit', '-qm', 'squash', '--date', '2026-01-07T12:00:00+0100');
    sessionIn(repository, 's3');
    agtOk(repository, 'fork', 's1', '--id', 's4');
    const ofFirst = 'of 1: s1 claude 1 one-0';
    expect(told(repository, 'f')).toEqual([ofFirst]);
    put(repository, { 1: 'of 1', 9: 'of a person' });
    commit(repository);
    expect(told(repository, 'f')).toEqual([ofFirst]);
    calls(second.sandbox, 'two', () => put(second.sandbox, { 5: 'of 2' }));
    agtOk(repository, 'accept', 's2');
    expect(told(repository, 'f')).toEqual([ofFirst, 'of 2: s2 claude 1 two-0']);
  },
);

test('a session that began with commits of another one: its acceptance writes none of their lines', () => {
  const { repository, sandbox } = makeSession({ f: LINES.join('') });
  const put = (cwd: string, lines: Record<number, string>) => writeFileSync(join(cwd, 'f'), withLines(lines));
  put(sandbox, { 1: 'of 1' });
  git(sandbox, 'commit', '-qam', 'work');
  agtOk(repository, 'new', 's2', '--from', 's1');
  const second = sessionOf(repository, 's2').sandbox;
  calls(second, 'two', () => put(second, { 1: 'of 1', 9: 'of 2' }));
  agtOk(repository, 'accept', 's2');
  expect(told(repository, 'f')).toEqual(['of 2: s2 claude 1 two-0']);
});

test('lines of an agent that a person has stashed and got back are still of the agent', () => {
  const { sandbox } = makeSession({ f: LINES.join('') });
  calls(sandbox, 'one', () => writeFileSync(join(sandbox, 'f'), withLines({ 1: 'of 1' })));
  const own = told(sandbox, 'f');
  expect(own).toEqual(['of 1: s1 claude 1 one-0']);
  git(sandbox, 'stash', '-q');
  agtOk(sandbox, 'autocommit');
  expect(told(sandbox, 'f')).toEqual([]);
  git(sandbox, 'stash', 'pop', '-q');
  agtOk(sandbox, 'autocommit');
  expect(told(sandbox, 'f')).toEqual(own);
});

test('a part of a session that was accepted has lines which later steps changed, in a file that is gone', () => {
  const { repository, sandbox, id } = makeSession({ f: LINES.join('') });
  const put = (name: string, lines: Record<number, string>) =>
    writeFileSync(join(sandbox, name), withLines(lines));
  calls(
    sandbox,
    'one',
    () => put('f', { 1: 'of 1' }),
    () => put('f', { 1: 'changed' }),
    () => {
      mkdirSync(join(sandbox, 'd'));
      put('d/f', { 1: 'changed' });
      rmSync(join(sandbox, 'f'));
    },
  );
  agtOk(repository, 'accept', id, '--commits', 'one-0');
  expect(told(repository, 'f')).toEqual(['of 1: s1 claude 1 one-0']);
});

test('where two agents are at work, blame names no call, and search no agent', () => {
  const { sandbox } = makeSession({ f: LINES.join('') });
  const [one, two] = (['claude-code', 'codex'] as const).map((tool, i) => agentIn(sandbox, tool, `c-${i}`));
  one?.says('one');
  two?.says('two');
  one?.begins('1');
  two?.begins('2');
  writeFileSync(join(sandbox, 'f'), withLines({ 3: 'of either' }));
  one?.ends('1');
  two?.ends('2');
  expect(told(sandbox, 'f')).toEqual(['of either: s1 unknown  ']);
  expect(agtOk(sandbox, 'why', 'f:4')).toContain('\n  by      one of 2 agents in s1\n');
  const [found] = JSON.parse(agtOk(sandbox, 'search', 'of either', '--json'));
  expect(found).toMatchObject({ agent: null });
});

test('a commit after two acceptances of the same work that were taken back is of its author', () => {
  const { repository, sandbox, id } = makeSession({ f: LINES.join(''), g: 'old\n' });
  calls(sandbox, 'one', () => writeFileSync(join(sandbox, 'g'), 'new\n'));
  for (let i = 0; i < 2; i++) {
    agtOk(repository, 'accept', id, '-m', `time ${i}`);
    agtOk(repository, 'unaccept', id);
  }
  writeFileSync(join(repository, 'f'), withLines({ 3: 'of a person' }));
  git(repository, 'commit', '-qam', 'own work');
  expect(git(repository, 'log', '--format=%s', 'refs/agt/lines/s1')).not.toContain('agt-map');
  expect(told(repository, 'f')).toEqual([]);
  expect(agtOk(repository, 'why', 'f:4')).toMatch(/by {6}Ann Author/);
});

test('a person amends an acceptance, accepts another session on top, and rebases both', () => {
  const { repository, sandbox, id } = makeSession({ f: LINES.join('') });
  git(repository, 'branch', 'other');
  const second = sessionIn(repository, 's2');
  calls(sandbox, 'one', () => writeFileSync(join(sandbox, 'f'), withLines({ 1: 'of 1' })));
  calls(second.sandbox, 'two', () => writeFileSync(join(second.sandbox, 'g'), 'of 2\n'));
  agtOk(repository, 'accept', id);
  writeFileSync(join(repository, 'f'), withLines({ 1: 'of 1', 9: 'of a person' }));
  git(repository, 'commit', '-qam', 'amended', '--amend');
  agtOk(repository, 'accept', second.id, '--untracked=all');
  const other = run(REAL_GIT, ['worktree', 'add', '-q', '../other', 'other'], { cwd: repository });
  expect(other.exitCode).toBe(0);
  const worktree = join(repository, '../other');
  writeFileSync(join(worktree, 'h'), 'theirs\n');
  git(worktree, 'add', 'h');
  git(worktree, 'commit', '-qm', 'of the other branch');
  for (const rebased of [false, true]) {
    if (rebased) git(repository, 'rebase', '-q', 'other');
    expect([rebased, told(repository, 'f')]).toEqual([rebased, ['of 1: s1 claude 1 one-0']]);
    expect([rebased, told(repository, 'g')]).toEqual([rebased, ['of 2: s2 claude 1 two-0']]);
  }
});

test('a person commits between two acceptances in one second, and picks all onto another branch', () => {
  const { repository, sandbox, id } = makeSession({ f: LINES.join('') });
  const start = git(repository, 'rev-parse', 'HEAD');
  const commit = (name: string, content: string) => {
    writeFileSync(join(repository, name), content);
    git(repository, 'add', '-A');
    git(repository, 'commit', '-qm', 'of a person');
  };
  calls(sandbox, 'one', () => writeFileSync(join(sandbox, 'f'), withLines({ 1: 'of 1' })));
  agtOk(repository, 'accept', id, '--keep');
  commit('g', 'later\n');
  agtOk(repository, 'sync', id);
  calls(sandbox, 'two', () => writeFileSync(join(sandbox, 'f'), withLines({ 1: 'of 1', 9: 'of 2' })));
  agtOk(repository, 'accept', id);
  const written = ['of 1: s1 claude 1 one-0', 'of 2: s1 claude 2 two-0'];
  expect(told(repository, 'f')).toEqual(written);
  git(repository, 'checkout', '-qb', 'elsewhere', start);
  commit('f', withLines({ 5: 'elsewhere' }));
  git(repository, 'cherry-pick', `${start}..main`);
  expect(told(repository, 'f')).toEqual(written);
});
