/** agt blame in a checkout without a session: options of git, files that git does not know, branches. */
import { rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionOf } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const LINES = 'one of the lines\ntwo of the lines\nthree of the lines\n';

/** With a snapshot of an agent's file that git does not know. */
function checkout() {
  const cwd = makeRepository({ f: LINES, 'd/g': 'x\n' });
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  writeFileSync(join(cwd, 'new'), LINES);
  agent.ends('1');
  agent.stops();
  return cwd;
}

test('lines that are not there are refused as git refuses them', () => {
  const cwd = checkout();
  for (const range of ['500', '20,25', 'x', '/nothing/', ':nothing']) {
    const { stderr } = run('git', ['blame', '-L', range, 'f'], { cwd });
    const refused = agt(cwd, 'blame', '-L', range, 'f');
    expect([range, refused.exitCode, refused.stdout]).toEqual([range, 128, '']);
    expect(refused.stderr).toContain(stderr.replace(/^fatal: /, '').split('\n')[0]);
    expect(agt(cwd, 'blame', '-L', range, 'new')).toMatchObject({ exitCode: 128, stdout: '' });
  }
  expect(agtOk(cwd, 'blame', '-L', '2,+1', 'new')).toMatch(/^0{10} \(claude \S+ turn 1 Bash .* 2\) two/);
  expect(agtOk(cwd, 'blame', '-L', '/three/', 'new')).toContain('three');
});

test('for programs, the field of a folder is not that of a session', () => {
  const cwd = checkout();
  const own = () => agtOk(cwd, 'blame', '--porcelain', 'new').match(/^agt-(folder|session) .*$/gm);
  expect(own()).toEqual(Array(3).fill(`agt-folder ${basename(cwd)}`));
  agtOk(cwd, 'new', 's1');
  write(join(sessionOf(cwd, 's1').sandbox, 'new'), 'of the session\n');
  rmSync(join(cwd, 'new'));
  agtOk(cwd, 'accept', 's1', '--untracked=all', '-m', 'landed');
  expect(own()).toEqual(['agt-session s1']);
});

test.each([
  ['new', 's1', '--with-changes'],
  ['fork', '--id', 's1'],
])('lines that a session has had from the checkout keep their author: agt %s', (...words) => {
  const cwd = checkout();
  agtOk(cwd, ...words);
  write(join(sessionOf(cwd, 's1').sandbox, 'new'), `${LINES}of the session\n`);
  if (words[0] === 'fork') rmSync(join(cwd, 'new'));
  const env = { GIT_AUTHOR_DATE: '', GIT_COMMITTER_DATE: '' };
  expect(run(AGT, ['accept', 's1', '--untracked=all', '-m', 'landed'], { cwd, env }).exitCode).toBe(0);
  const authors = () => agtOk(cwd, 'blame', 'new').match(/(?<=\().*?(?= \d{4}-)/g);
  const expected = [...Array(3).fill(`claude ${basename(cwd)} turn 1 Bash`), 'you or an agent in s1'];
  expect(authors()?.map((author) => author.trim())).toEqual(expected);
  // The checkout has all of them in its snapshots now.
  agtOk(cwd, 'snapshot');
  expect(authors()?.map((author) => author.trim())).toEqual(expected);
});

test('-C before the command names a directory, and after it finds lines of other files', () => {
  const cwd = checkout();
  git(cwd, 'rm', '-q', 'f');
  git(cwd, 'add', 'new');
  git(cwd, 'commit', '-qm', 'renamed');
  const first = git(cwd, 'rev-parse', '--short=9', 'HEAD^');
  for (const words of [
    ['-C', 'new'],
    ['-C', '-M', 'new'],
    ['new', '-C'],
    ['-w', '-M', '-C', '--', 'new'],
  ])
    expect(agtOk(cwd, 'blame', ...words)).toContain(first);
  expect(agtOk(join(cwd, 'd'), '-C', '..', 'blame', '-C', 'new')).toContain(first);
});

test('a commit on a branch that no snapshot saw has the lines of the agent', () => {
  const cwd = makeRepository({ f: LINES });
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  writeFileSync(join(cwd, 'f'), `${LINES}of the agent\n`);
  agent.ends('1');
  agent.stops();
  writeFileSync(join(cwd, 'f'), `${LINES}of the agent\nof a person\n`);
  const now = { env: { GIT_AUTHOR_DATE: '', GIT_COMMITTER_DATE: '' }, cwd };
  run('git', ['checkout', '-q', '-b', 'other'], now);
  expect(run('git', ['commit', '-qam', 'on a branch'], now).exitCode).toBe(0);
  run('git', ['checkout', '-q', 'main'], now);
  const told = () =>
    agtOk(cwd, 'blame', 'other', 'f')
      .split('\n')
      .map((line) => /\((\w+).*\d\) (.*)$/.exec(line)?.slice(1).join(': '));
  const expected = [
    ...LINES.trim()
      .split('\n')
      .map((line) => `Ann: ${line}`),
    'claude: of the agent',
    'Ann: of a person',
  ];
  expect(told()).toEqual(expected);
  agent.says('second');
  agent.stops();
  expect(told()).toEqual(expected);
});

test.each([
  ['by the clock', 0],
  ['by a clock that is ahead', 3600],
])('lines that a person committed are of that person, with snapshots around them: %s', (_, ahead) => {
  const cwd = makeRepository({ f: 'one\n' });
  const date = `@${Math.floor(Date.now() / 1000) + ahead} +0000`;
  const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const commit = (content: string) => {
    write(join(cwd, 'f'), content);
    expect(run('git', ['commit', '-qam', 'mine'], { cwd, env }).exitCode).toBe(0);
  };
  commit('one\nfour\n');
  commit('one\ntwo\n');
  agtOk(cwd, 'snapshot');
  commit('one\ntwo\nthree\n');
  agtOk(cwd, 'snapshot');
  const told = (...words: string[]) => agtOk(cwd, 'blame', ...words, 'f').match(/(?<=\()\w+/g);
  expect(told()).toEqual(['Ann', 'Ann', 'Ann']);
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.begins('1');
  write(join(cwd, 'f'), 'one\ntwo\nthree\nfour\n');
  agent.ends('1');
  expect(told()).toEqual(['Ann', 'Ann', 'Ann', 'claude']);
  expect(told('HEAD~2')).toEqual(['Ann', 'Ann']);
});

test('a person drops an acceptance: commits that come later are still of the agent in the checkout', () => {
  const { repository, sandbox, id } = makeSession({ f: LINES });
  write(join(sandbox, 'landed'), 'landed\n');
  agtOk(repository, 'accept', id, '--untracked=all');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  const agent = agentIn(repository, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  write(join(repository, 'f'), `${LINES}of the agent\n`);
  agent.ends('1');
  agent.stops();
  const env = { GIT_AUTHOR_DATE: '', GIT_COMMITTER_DATE: '' };
  expect(run('git', ['commit', '-qam', 'mine'], { cwd: repository, env }).exitCode).toBe(0);
  expect(agtOk(repository, 'blame', 'f')).toMatch(/\(claude \S+ turn 1 Bash .*\) of the agent$/m);
});

test('a folder without git: lines come from its snapshots, the first one too', () => {
  const cwd = makeTempDir('notes');
  write(join(cwd, 'd/f'), LINES);
  expect(agt(cwd, 'blame', 'd/f').stderr).toContain('not in a git repository');
  agtOk(cwd, 'snapshot');
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  writeFileSync(join(cwd, 'd/f'), LINES.replace('two', '2'));
  agent.ends('1');
  agent.stops();
  writeFileSync(join(cwd, 'd/f'), `${LINES.replace('two', '2')}mine\n`);
  for (const [at, file] of [
    [cwd, 'd/f'],
    [join(cwd, 'd'), 'f'],
  ] as const) {
    expect(agtOk(at, 'blame', file).split('\n')).toEqual([
      expect.stringContaining('1) one of the lines'),
      expect.stringMatching(/\(claude notes\S* turn 1 Bash .* 2\) 2 of the lines$/),
      expect.stringContaining('3) three of the lines'),
      expect.stringMatching(/\(Not Committed Yet .* 4\) mine$/),
    ]);
    expect(agtOk(at, 'why', `${file}:2`)).toMatch(
      /prompt {2}first\n[\s\S]*-two of the lines\n\+2 of the lines/,
    );
    expect(agtOk(at, 'why', `${file}:1`)).toContain('+one of the lines');
  }
  expect(agt(cwd, 'blame', 'HEAD', 'd/f').stderr).toMatch(
    /^error: "HEAD" names a commit, and this folder has no/,
  );
  for (const words of [['blame'], ['why']])
    expect(agt(cwd, ...words, 'nosuch').stderr).toBe('error: there is no file nosuch\n');
  agent.says('second');
  agent.begins('2');
  rmSync(join(cwd, 'd/f'));
  const said = (...words: string[]) => agt(cwd, ...words).stderr;
  const asBefore = said('blame', 'd/f');
  expect(asBefore).toMatch(
    /^error: there is no file d\/f\nhint: it has gone since the last snapshot\nhint: to bring it back: /,
  );
  agent.ends('2');
  const [, back = ''] = /\nhint: to bring it back: agt (.*)\n$/.exec(said('why', 'd/f')) ?? [];
  expect(said('why', 'd/f:2')).toMatch(/\nhint: step \w{10} deleted it: claude notes\S* turn 2 Bash\n/);
  expect(asBefore).toContain(back);
  // In a directory, the advice is for the folder, where the same name is another file.
  expect(said('why', 'd/f')).toContain(' -- d/f\n');
  expect(agt(join(cwd, 'd'), 'why', 'f:2').stderr).toMatch(/agt -C \S+ snapshot restore \w{10} -- d\/f\n$/);
  agtOk(cwd, ...back.split(' '));
  expect(agtOk(cwd, 'why', 'd/f:4')).toContain('mine');
  write(join(cwd, 'my docs/read me.md'), 'docs\n');
  expect(agt(cwd, 'blame', 'my', 'docs/read', 'me.md').stderr).toContain(
    "hint: a path with spaces needs quotes: agt blame 'my docs/read me.md'\n",
  );
});

test('a revision with a colon, as in git show, gets the right words', () => {
  const cwd = checkout();
  const hint = 'hint: the revision is a word of its own, before the file: HEAD f\n';
  expect(agt(cwd, 'blame', 'HEAD:f').stderr).toBe(`error: there is no file HEAD:f\n${hint}`);
  expect(agt(cwd, 'why', 'HEAD:f:1').stderr).toBe(`error: there is no file HEAD:f\n${hint}`);
  expect(agt(cwd, 'why', 'HEAD:f').stderr).not.toContain('grep');
});

test('agt why names no commit for certain where a shallow clone ends', () => {
  const folder = makeRepository({ f: 'one\n' });
  write(join(folder, 'f'), 'one\ntwo\n');
  git(folder, 'commit', '-qam', 'second');
  expect(agtOk(folder, 'why', 'f:1')).toMatch(/ commit {2}\w+ first\n\ndiff --git/);
  const clone = makeTempDir('shallow');
  git(clone, 'clone', '-q', '--depth', '1', `file://${folder}`, '.');
  expect(agtOk(clone, 'why', 'f:1')).toMatch(
    / commit {2}\w+ second\n {10}or an older one, which this shallow clone does not have$/,
  );
});

test.each<[string, ...string[][]]>([
  ['a commit', ['commit', '-qam', 'own', '--author=Claude <c@x>']],
  ['an amend', ['commit', '-qam', 'own'], ['commit', '--amend', '--no-edit', '--author=Claude <c@x>']],
  [
    'a copy',
    ['commit', '-qam', 'own', '--author=Claude <c@x>'],
    ['rebase', '-q', '--onto', 'HEAD~2', 'HEAD~1'],
  ],
])('the agent commits under a name of its own: %s', (_, ...all) => {
  const cwd = makeRepository({ f: LINES });
  git(cwd, 'commit', '-q', '--allow-empty', '-m', 'second');
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  write(join(cwd, 'f'), `${LINES}of the agent\n`);
  const env = { GIT_AUTHOR_DATE: '', GIT_COMMITTER_DATE: '' };
  for (const words of all) expect(run('git', words, { cwd, env }).exitCode).toBe(0);
  agent.ends('1');
  agent.stops();
  expect(git(cwd, 'log', '-1', '--format=%an')).toBe('Claude');
  expect(agtOk(cwd, 'blame', 'f')).toMatch(/\(claude \S+ turn 1 Bash .*\) of the agent$/m);
});

test('what somebody else has committed is theirs, also once the agent has picked or amended it', () => {
  const cwd = makeRepository({ f: LINES });
  const env = { GIT_AUTHOR_DATE: '', GIT_COMMITTER_DATE: '' };
  const clone = makeTempDir();
  git(clone, 'clone', '-q', cwd, '.');
  write(join(clone, 'f'), `${LINES}of Bea\n`);
  expect(run('git', ['commit', '-qam', 'b', '--author=Bea <b@x>'], { cwd: clone, env }).exitCode).toBe(0);
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  git(cwd, 'fetch', '-q', clone);
  write(join(cwd, 'g'), 'of the agent\n');
  for (const words of [
    ['add', '.'],
    ['commit', '-qm', 'g'],
    ['cherry-pick', 'FETCH_HEAD'],
    ['commit', '--amend', '-qm', 'better'],
  ])
    expect(run('git', words, { cwd, env }).exitCode).toBe(0);
  agent.ends('1');
  agent.stops();
  expect(agtOk(cwd, 'blame', 'f')).toMatch(/\(Bea .*\) of Bea$/m);
  expect(agtOk(cwd, 'blame', 'g')).toMatch(/\(claude /);
});
