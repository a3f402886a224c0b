/** Rejected lines when work lands: they stay in the sandbox, and no way of agt accept brings them to the branch. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
const edited = (edits: Readonly<Record<number, string>>) =>
  LINES.map((line, i) => (edits[i] === undefined ? line : `${edits[i]}\n`)).join('');

/** One turn has committed lines 3 and 20; the next one has changed line 28 and added a file. */
function work() {
  const { repository, sandbox } = makeSession({ f: LINES.join('') });
  const put = (name: string, text: string) => writeFileSync(join(sandbox, name), text);
  put('f', edited({ 3: 'three', 20: 'twenty' }));
  git(sandbox, 'commit', '-qam', 'Trim the name');
  put('f', edited({ 3: 'three', 20: 'twenty', 28: 'more' }));
  put('helper', 'helper\n');
  return {
    repository,
    sandbox,
    put,
    review: (...words: string[]) => agtOk(repository, 'review', 's1', ...words),
    accept: (...words: string[]) => agt(repository, 'accept', 's1', '--untracked=all', ...words),
    /** What the branch has of the lines that change. */
    landed: () => git(repository, 'show', 'main:f').match(/^(three|twenty|more)$/gm),
    read: () => readFileSync(join(sandbox, 'f'), 'utf8'),
    states: () => {
      const hunks: { path: string; state: string }[] = JSON.parse(
        agtOk(repository, 'review', 's1', '--json'),
      );
      return hunks.flatMap(({ path, state }) => (state === 'rejected' ? path : []));
    },
  };
}

const WARNING = 'warning: 1 rejected hunk stays out: f\n';

test('commits that land as they are refuse a rejected hunk, also one that was taken back since', () => {
  const { repository, review, accept, landed } = work();
  review('--reject', 'f:21', '-m', 'keep 20');
  const words = ['--commits', 'agt/s1', '--keep'];
  const problem = 'error: the commits that land have 1 rejected hunk: f; nothing has changed\n';
  const rest = 'hint: land the work without the rejected lines: leave out --commits\n';
  for (const dry of [['-n'], []])
    expect(accept(...words, ...dry)).toMatchObject({
      exitCode: 1,
      stderr: `${problem}${rest}hint: or take the rejection back: agt review s1 --new f\n`,
    });
  expect(accept('--keep-commits', '--keep').stderr).toContain(problem);
  review('--now');
  const forget = 'hint: or forget all marks: agt review s1 --reset\n';
  expect(accept(...words).stderr).toBe(`${problem}${rest}${forget}`);
  expect(landed()).toBeNull();
  agtOk(repository, 'undo', 's1');
  expect(accept(...words).exitCode).toBe(0);
  expect(landed()).toEqual(['three', 'twenty']);
});

test('other commits land, and so do commits whose rejected lines the next one takes back', () => {
  const { sandbox, review, accept, landed } = work();
  git(sandbox, 'add', 'helper');
  git(sandbox, 'commit', '-qm', 'Helper', 'helper');
  review('--reject', 'f:21', '-m', 'keep 20');
  expect(accept('--commits', 'agt/s1', '--keep')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(landed()).toBeNull();
  review('--now');
  expect(accept('--keep-commits')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(landed()).toEqual(['three', 'more']);
});

test('a commit of which each hunk is rejected has no part in the message', () => {
  const { repository, sandbox, review, accept } = work();
  git(sandbox, 'add', 'helper');
  git(sandbox, 'commit', '-qm', 'Helper', 'helper');
  review('--reject', 'helper', '-m', 'no');
  expect(accept('-n').stdout).toContain('\n    Trim the name\n');
  review('--now');
  accept();
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('Trim the name');
});

test('--committed-only leaves out a rejected line that is committed, once agt has taken it back as well', () => {
  const { repository, review, accept, landed } = work();
  review('--reject', 'f:21', '-m', 'keep 20');
  for (const isPending of [true, false]) {
    if (!isPending) review('--now');
    for (const dry of [['-n'], []]) {
      const { stdout, stderr } = accept('--committed-only', '--keep', ...dry);
      expect([stderr, stdout]).toEqual([WARNING, expect.stringContaining('1 file changed, +1 -1')]);
      expect(stdout).toMatch(/^left out f \(uncommitted changes\), helper$/m);
    }
    expect(landed()).toEqual(['three']);
    agtOk(repository, 'unaccept', 's1');
  }
  agtOk(repository, 'undo', 's1');
  expect(accept('--committed-only', '--keep').stderr).toBe('');
  expect(landed()).toEqual(['three', 'twenty']);
});

test.each([
  ['--include', 'f'],
  ['--exclude', 'helper'],
])('an acceptance with %s %s takes nothing out of the sandbox', (...words) => {
  const { repository, sandbox, put, review, accept, landed, read, states } = work();
  put('told', 'told\n');
  review('--reject', 'told', '-m', 'no', '--tell');
  review('--reject', 'f:21', '-m', 'keep 20');
  const warning = 'warning: 2 rejected hunks stay out: f, told\n';
  expect(accept(...words, '--keep')).toMatchObject({ exitCode: 0, stderr: warning });
  expect(landed()).toEqual(['three', 'more']);
  expect(existsSync(join(sandbox, 'told'))).toBe(true);
  expect(read()).toBe(edited({ 3: 'three', 20: 'twenty', 28: 'more' }));
  agtOk(repository, 'sync', 's1');
  expect(states()).toEqual(['f', 'told']);
  put('f', edited({ 3: 'three', 20: 'twenty', 28: 'more', 35: 'last' }));
  expect(accept('--keep')).toMatchObject({ exitCode: 0, stderr: warning });
  expect(git(repository, 'show', 'main:f')).toBe(edited({ 3: 'three', 28: 'more', 35: 'last' }).trimEnd());
  review('--settle', 'turn');
  expect(states()).toEqual(['told']);
});

test.each(['unaccept', 'undo'])(
  'after agt %s of an acceptance the rejected lines are there as before',
  (back) => {
    const { repository, sandbox, review, accept, landed, read, states } = work();
    review('--reject', 'helper', '-m', 'no');
    review('--reject', 'f:21', '-m', 'keep 20');
    expect(accept().stderr).toBe('warning: 2 rejected hunks stay out: f, helper\n');
    expect([landed(), existsSync(sandbox)]).toEqual([['three', 'more'], false]);
    agtOk(repository, back, 's1');
    expect(read()).toBe(edited({ 3: 'three', 20: 'twenty', 28: 'more' }));
    expect(states()).toEqual(['f', 'helper']);
  },
);

test('changes by a failed call are none of a review, which says so', () => {
  const { repository, sandbox } = work();
  agt(sandbox, 'session', 'exec', '--tool', 'Bash', '--', 'sh', '-c', 'echo half >half; exit 7');
  const shown = agt(repository, 'review', 's1', '--json');
  expect(shown.stdout).not.toContain('half');
  expect(shown.stderr).toBe(
    'note: changes by failed calls stay out (half), as of agt accept without --with-failed\n',
  );
  const problem = 'error: half: changes by failed calls stay out\n';
  expect(agt(repository, 'review', 's1', '--reject', 'half', '-m', 'no').stderr).toBe(
    `${problem}hint: take them too: agt accept s1 --with-failed\n`,
  );
});

test.each([[], ['sync']])(
  'what landed, and the user has reverted since, is not seen any more: %j',
  (...sync) => {
    const { repository, sandbox } = makeSession({ a: 'a\n', b: 'b\n' });
    const commit = (name: string, text: string) => {
      writeFileSync(join(sandbox, name), text);
      git(sandbox, 'commit', '-qam', `Edit ${name}`);
    };
    commit('a', 'one\n');
    commit('b', 'bee\n');
    agtOk(repository, 'accept', 's1', '--include', 'a', '--keep', '-m', 'Part');
    commit('a', 'a\n');
    agtOk(repository, 'review', 's1', '--seen', 'b');
    git(repository, 'revert', '--no-edit', 'HEAD');
    for (const command of sync) agtOk(repository, command, 's1');
    expect(agtOk(repository, 'review', 's1')).toBe('s1: nothing new');
    const { files } = JSON.parse(agtOk(repository, 'accept', 's1', '--seen', '-n', '--json'));
    expect(files).toMatchObject([{ path: 'b' }]);
  },
);

test('a dry run of a session and its fork lands both, as the acceptance does, where a hunk of both is rejected', () => {
  const { repository, sandbox } = makeSession({ f: LINES.join('') });
  writeFileSync(join(sandbox, 'new'), '1\n2\n');
  writeFileSync(join(sandbox, 'f'), edited({ 3: 'three' }));
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-qm', 'One');
  agtOk(repository, 'review', 's1', '--reject', 'f', '-m', 'no', '--tell');
  agtOk(repository, 'fork', 's1', '--id', 's2');
  const fork = join(agtOk(repository, 'path', 's2'));
  writeFileSync(join(fork, 'new'), '1\n2\n3\n');
  git(fork, 'commit', '-qam', 'Two');
  for (const dryRun of [['-n'], []]) {
    const { exitCode, stderr } = agt(repository, 'accept', 's1', 's2', ...dryRun);
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('conflict')]);
  }
  expect(git(repository, 'show', 'main:new')).toBe('1\n2\n3');
  expect(git(repository, 'show', 'main:f')).toBe(LINES.join('').trimEnd());
});

test('the message names no commit that stays out with a rejected hunk, and none that has landed', () => {
  const { repository, sandbox, put, review, accept } = work();
  git(sandbox, 'commit', '-qam', 'More of it');
  review('--reject', 'f:29', '-m', 'no');
  expect(accept('--keep', '--exclude', 'helper').stderr).toContain(WARNING);
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('Trim the name');
  put('f', edited({ 3: 'three', 12: 'twelve', 20: 'twenty', 28: 'more' }));
  git(sandbox, 'commit', '-qam', 'The twelfth');
  agtOk(repository, 'sync', 's1');
  expect(accept('--exclude', 'helper').stderr).toContain(WARNING);
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('The twelfth');
});
