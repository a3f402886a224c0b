/** `agt uninstall` killed at every step: no clone gets a snapshot meanwhile, and the same command finishes it. */
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const bundle = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

test('no clone gets a snapshot, and the same command finishes it', { timeout: 300_000 }, () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, '.env'), 'TOKEN=1\n');
  agtOk(repository, 'autocommit', 's1');
  agtOk(repository, 'session', 'new', '--id', 's2');
  const parent = dirname(repository);
  const copy = join(makeTempDir(), 'copy');
  cpSync(parent, copy, { recursive: true, verbatimSymlinks: true });
  const uninstall = (env: Record<string, string>) =>
    run(process.execPath, [bundle, 'uninstall', '--force'], { cwd: repository, env });
  const list = join(makeTempDir(), 'list');
  expect(uninstall({ AGT_TEST_LIST_POINTS: list }).exitCode).toBe(0);
  const points = readFileSync(list, 'utf8').trim().split('\n');
  const firsts = [...new Map(points.map((point) => [point.split('#')[0], point])).values()];
  expect(firsts.length).toBeGreaterThan(5);
  for (const point of firsts) {
    rmSync(parent, { recursive: true });
    cpSync(copy, parent, { recursive: true, verbatimSymlinks: true });
    expect([point, uninstall({ AGT_TEST_KILL_AT: point }).exitCode]).toEqual([point, null]);
    const shown = run(REAL_GIT, ['ls-remote', repository], { cwd: parent }).stdout;
    expect(shown, point).not.toMatch(/agt/);
    const again = uninstall({});
    expect([point, again.exitCode, again.stderr]).toEqual([point, 0, expect.not.stringContaining('error')]);
    expect(git(repository, 'for-each-ref', '--format=%(refname)'), point).toBe('refs/heads/main');
    expect(git(repository, 'config', '--list', '--local'), point).not.toContain('agt');
    expect([existsSync(join(repository, '.git/agt')), existsSync(`${repository}.agt`)]).toEqual([
      false,
      false,
    ]);
    for (const empty of ['refs/agt', 'worktrees'])
      expect(existsSync(join(repository, '.git', empty)), `${point} ${empty}`).toBe(false);
  }
});

test('snapshots whose session is lost go only with --force', () => {
  const { repository } = makeSession({ a: 'a\n' });
  agtOk(repository, 'autocommit', 's1');
  rmSync(join(repository, '.git/agt/sessions/s1.json'));
  const before = git(repository, 'for-each-ref');
  const refused = agt(repository, 'uninstall');
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /^error: \d refs of lost sessions would go with all snapshots, .*\nhint: to look at them: agt doctor\n/,
    ),
  });
  const dry = agt(repository, 'uninstall', '-n');
  expect(dry.stdout).toMatch(/^would delete \d refs of lost sessions$/m);
  expect(dry.stderr).toBe('note: to delete them: agt uninstall --force\n');
  expect(agt(repository, 'uninstall', '-n', '--force').stderr).toBe('');
  expect(git(repository, 'for-each-ref')).toBe(before);
});

test('without sessions nothing is lost, and nobody is asked', () => {
  const repository = makeRepository({ a: 'a\n' });
  expect(agtOk(repository, 'uninstall')).toBe(`removed agt from ${join(repository, '.git')}`);
});

test('commits that only sessions have are lost with all of them, and with two that go together', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'work');
  agtOk(repository, 'fork', 's1', '--id', 's2');
  const lost = (id: string) => `note: ${id} has 1 commit on its HEAD neither exported nor merged\n`;
  expect(agt(repository, 'uninstall', '-n', '--force').stderr).toBe(lost('s1') + lost('s2'));
  const both = ['remove', 's1', 's2', '--delete-branch'];
  for (const more of [['-n'], []])
    expect(agt(repository, ...both, ...more).stderr).toContain(
      'error: session "s2" has 1 commit on its HEAD neither exported nor merged',
    );
});

test('it names a commit that only the snapshots of a rejected session have, and no map of one that was unaccepted', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\n');
  git(sandbox, 'commit', '-qam', 'of the agent');
  agtOk(repository, 'accept', 's1');
  agtOk(repository, 'unaccept', 's1');
  agtOk(repository, 'reject', 's1');
  const { stderr } = agt(repository, 'uninstall', '-n', '--force');
  expect(stderr).toBe('note: s1 has 1 commit in its last snapshot neither exported nor merged\n');
});

test('work that a session in place has brought back is in the checkout, until it changes there', () => {
  const repository = makeRepository({ a: 'a\n' });
  write(join(repository, 'a'), 'mine\n');
  write(join(repository, 'u'), 'u\n');
  git(repository, 'add', 'u');
  agtOk(repository, 'new', 's1', '--working-copy', 'in-place');
  write(join(repository, 'z'), 'z\n');
  agtOk(repository, 'accept', 's1', '--untracked=all');
  const losses = () =>
    agt(repository, 'uninstall', '-n', '--force').stderr.replace(/^note: agt blame .*\n/m, '');
  expect(losses()).toBe('');
  write(join(repository, 'a'), 'other\n');
  expect(losses()).toBe('note: s1 has files that only its snapshots have (a)\n');
  write(join(repository, 'a'), 'mine\n');
  agtOk(repository, 'unaccept', 's1');
  agtOk(repository, 'reject', 's1');
  expect(losses()).toBe('note: s1 has files that only its snapshots have (z)\n');
  rmSync(join(repository, 'u'));
  expect(losses()).toBe('note: s1 has files that only its snapshots have (z, u)\n');
});

test('it names what stays on remotes, and the key; the commands that it names delete the one and the other', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const remote = join(makeTempDir(), 'remote');
  git(repository, 'clone', '-q', '--bare', '.', remote);
  git(repository, 'remote', 'add', 'origin', remote);
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'work');
  const env = { XDG_CONFIG_HOME: makeTempDir() };
  const call = (...words: string[]) => run(AGT, words, { cwd: repository, env });
  expect(call('uninstall', '-n').stderr).not.toContain('stays');
  call('export', 's1', '--remote', 'origin');
  call('session', 'push', 's1');
  const stays = [
    'the copy of s1 on origin stays; to delete it: agt session push s1 origin --delete',
    'the branch agt/s1 on origin stays; to delete it: git push origin --delete agt/s1',
    `your key stays: ${join(env.XDG_CONFIG_HOME, 'agt/key')}`,
  ];
  const linesOf = (word: string) => stays.map((line) => `${word}: ${line}\n`).join('');
  expect(call('uninstall').stderr).toContain(linesOf('hint'));
  expect(call('uninstall', '-n').stderr).toContain(linesOf('note'));
  expect(call('uninstall', '--force').stderr).toContain(linesOf('note'));
  call('session', 'push', 's1', 'origin', '--delete');
  git(repository, 'push', '-q', 'origin', '--delete', 'agt/s1');
  expect(git(remote, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});

test('maps of who wrote accepted lines outlive their sessions, and are only named', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\n');
  agtOk(repository, 'accept', 's1');
  agtOk(repository, 'remove', 's1', '--delete-branch');
  const note = 'note: agt blame forgets who wrote the lines that 1 session brought to your branches\n';
  expect(agt(repository, 'uninstall', '-n')).toMatchObject({ exitCode: 0, stderr: note });
  expect(agt(repository, 'uninstall')).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(note) });
  expect(git(repository, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});
