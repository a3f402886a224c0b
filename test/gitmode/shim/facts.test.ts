/** The facts of the shim may be out of date: then it still prints what real git prints in the twin. */
import { readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GIT_MODE, git, makeTempDir, run, write } from '../../harness/world.ts';
import { gitAt } from '../../twin/repositories.ts';
import { buildTwin, SIDES, type Twin } from '../../twin/shapes.ts';
import { env, leaveFacts, notingShim, startedFor } from './noting-shim.ts';

const LINES = [
  'branch',
  'branch -a',
  'branch -r',
  'tag',
  'for-each-ref',
  'log --oneline --decorate --all',
  'log --oneline --decorate',
  'log --oneline --branches',
  'rev-list --all --count',
  'rev-list --remotes --count',
];

const project = (twin: Twin, side: (typeof SIDES)[number]) => join(twin.root, side, 'project');

async function twinWithFacts(name: string): Promise<Twin> {
  const twin = buildTwin(name);
  if (name === 'remote') git(project(twin, 'with'), 'update-ref', '-d', 'refs/remotes/gone/agt/x');
  await leaveFacts(twin);
  return twin;
}

test('another HOME has another configuration', async () => {
  const twin = await twinWithFacts('linear');
  const home = makeTempDir('home');
  write(join(home, '.gitconfig'), '[log]\n\tdecorate = short\n\texcludeDecoration = refs/tags\n');
  const subject = { ...notingShim(), env: { ...env, HOME: home } };
  expect(await startedFor(twin, ['log --oneline', ...LINES], subject)).toContain('log --oneline');
});

test('another XDG_CONFIG_HOME has another configuration', async () => {
  const twin = await twinWithFacts('linear');
  const home = makeTempDir('home');
  write(join(home, 'git/config'), '[log]\n\tdecorate = short\n');
  const subject = { ...notingShim(), env: { ...env, XDG_CONFIG_HOME: home } };
  expect(await startedFor(twin, ['log --oneline'], subject)).toEqual(['log --oneline']);
});

test('GIT_CONFIG_NOSYSTEM has facts of its own', async () => {
  const twin = await twinWithFacts('linear');
  const subject = { ...notingShim(), env: { ...env, GIT_CONFIG_NOSYSTEM: '1' } };
  expect(await startedFor(twin, ['log --oneline --decorate'], subject)).toHaveLength(1);
  expect(await startedFor(twin, LINES, subject)).toEqual([]);
});

test('a setting by -c reaches git, also in a list', async () => {
  const twin = await twinWithFacts('linear');
  const lines = ['branch', 'branch -a', 'tag -l', 'for-each-ref', 'rev-list --all', 'log --all --oneline'];
  const set =
    '-c color.branch=always -c branch.sort=-committerdate -c tag.sort=-refname -c log.decorate=short';
  expect(
    await startedFor(
      twin,
      lines.map((line) => `${set} ${line}`),
    ),
  ).toHaveLength(lines.length);
});

test.each([
  ['push.default', 'matching'],
  ['remote.origin.push', 'refs/heads/*:refs/heads/*'],
  ['remote.origin.mirror', 'true'],
])('%s = %s makes a push send more, also when facts were left before', async (name, value) => {
  const twin = await twinWithFacts('remote');
  for (const side of SIDES) git(project(twin, side), 'config', name, value);
  expect((await startedFor(twin, ['!push', '!push origin'])).length).toBe(2);
  await leaveFacts(twin);
  expect((await startedFor(twin, ['!push', '!push origin'])).length).toBe(2);
});

test('a push sees such a setting in a file whose time was set back', async () => {
  const twin = await twinWithFacts('remote');
  for (const side of SIDES) {
    git(project(twin, side), 'config', 'push.default', 'matching');
    utimesSync(join(project(twin, side), '.git/config'), 1000, 1000);
  }
  expect(await startedFor(twin, ['!push'])).toEqual(['push']);
});

test('with rebase.updateRefs, a pull may move hidden branches', async () => {
  const twin = await twinWithFacts('remote');
  for (const side of SIDES) git(project(twin, side), 'config', 'rebase.updateRefs', 'true');
  await leaveFacts(twin);
  expect(await startedFor(twin, ['!pull --rebase', '!fetch'])).toEqual(['pull --rebase']);
});

test('a setting on the command line is no fact', async () => {
  const twin = await twinWithFacts('remote');
  for (const side of SIDES) git(project(twin, side), 'config', 'push.default', 'matching');
  rmSync(join(project(twin, 'with'), '.git/agt-shim'));
  run(notingShim().program, ['-c', 'push.default=simple', 'push', '--dry-run'], {
    cwd: project(twin, 'with'),
    env,
  });
  expect((await startedFor(twin, ['!push'])).at(-1)).toBe('push');
});

describe('a hidden ref of a remote that is not configured', () => {
  test.each(['loose', 'packed'])('%s', async (how) => {
    const twin = await twinWithFacts('remote');
    git(project(twin, 'with'), 'update-ref', 'refs/remotes/gone/agt/x', 'refs/heads/agt/s1');
    if (how === 'packed') git(project(twin, 'with'), 'pack-refs', '--all');
    await startedFor(twin, LINES);
  });
});

test('a new worktree of the user, and an old one with an agent’s branch', async () => {
  const twin = await twinWithFacts('worktrees');
  for (const side of SIDES) {
    gitAt(project(twin, side), 80, ['worktree', 'add', '-q', '--detach', '../another', 'main']);
    gitAt(join(twin.root, side, 'another'), 81, ['commit', '-q', '--allow-empty', '-m', 'in another']);
    gitAt(join(twin.root, side, 'mine'), 82, ['checkout', '-q', '--detach', 'main']);
  }
  gitAt(join(twin.root, 'with/mine'), 83, ['checkout', '-q', '-b', 'agt/in-mine']);
  gitAt(join(twin.root, 'with/mine'), 84, ['commit', '-q', '--allow-empty', '-m', 'by an agent']);
  expect((await startedFor(twin, ['rev-list --all', 'log --oneline --all'])).length).toBeGreaterThan(0);
  await leaveFacts(twin);
  expect(await startedFor(twin, ['rev-list --all', 'log --oneline --all'])).toEqual([]);
});

test('a worktree that is a little younger than the facts, which name it', async () => {
  const twin = await twinWithFacts('worktrees');
  const gitDir = join(project(twin, 'with'), '.git');
  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);
  utimesSync(join(gitDir, 'agt-shim'), secondsAgo(20), secondsAgo(20));
  for (const id of readdirSync(join(gitDir, 'worktrees')))
    utimesSync(join(gitDir, 'worktrees', id, 'gitdir'), secondsAgo(10), secondsAgo(10));
  expect(await startedFor(twin, ['rev-list --all'])).toEqual(['rev-list --all']);
  expect(await startedFor(twin, ['rev-list --all'])).toEqual([]);
});

test('a sandbox whose HEAD was detached', async () => {
  const twin = buildTwin('worktrees');
  const sandbox = join(twin.root, 'with/sandbox-s1');
  write(
    join(project(twin, 'with'), '.git/agt/sessions/s1.json'),
    JSON.stringify({ session_id: 's1', sandbox, state: 'active' }),
  );
  await leaveFacts(twin);
  gitAt(sandbox, 80, ['checkout', '-q', '--detach']);
  gitAt(sandbox, 81, ['commit', '-q', '--allow-empty', '-m', 'detached']);
  await startedFor(twin, ['rev-list --all', 'log --oneline --all']);
});

test('a checkout of an agent’s branch, and one away from it', async () => {
  const twin = await twinWithFacts('linear');
  const cwd = project(twin, 'with');
  const program = notingShim().program;
  for (const branch of ['agt/s1', 'main', 'agt/s2']) {
    git(cwd, 'checkout', '-q', branch);
    for (const line of LINES) {
      const words = line.split(' ');
      expect(run(program, words, { cwd, env })).toEqual(run(GIT_MODE, words, { cwd }));
    }
  }
});

test('settings of the repository name other prefixes', async () => {
  const twin = await twinWithFacts('linear');
  const cwd = project(twin, 'with');
  git(cwd, 'branch', 'mine/x');
  write(join(cwd, '.git/agt/config'), '[agt]\n\tworkPrefix = mine/\n');
  expect(run(notingShim().program, ['branch'], { cwd, env }).stdout).toBe(
    '  agt/s1\n  agt/s2\n  feature\n* main\n',
  );
});

test('a repository without hidden refs fetches all that real git fetches', () => {
  const dir = makeTempDir('fetch');
  const [server, clone] = [join(dir, 'server'), join(dir, 'clone')];
  git('/', 'init', '-q', '-b', 'main', server);
  git(server, 'commit', '-q', '--allow-empty', '-m', 'first');
  git('/', 'clone', '-q', server, clone);
  git(server, 'branch', 'agt/of-a-colleague');
  write(join(clone, '.git/agt/sessions/.keep'), '');
  for (const line of [['log', '-1'], ['fetch']]) run(notingShim().program, line, { cwd: clone, env });
  expect(git(clone, 'for-each-ref', '--format=%(refname)', 'refs/remotes/origin/agt')).toBe(
    'refs/remotes/origin/agt/of-a-colleague',
  );
});
