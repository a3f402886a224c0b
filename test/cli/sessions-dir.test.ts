/** Where session folders are if agt cannot write beside the repository, and where agt.sessionsDir says. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtWithPermissions } from '../harness/privileges.ts';
import { agt, agtOk, git, makeRepositoryAt, makeTempDir, write } from '../harness/world.ts';

/** A repository in a directory that nobody can write, with a state directory of its own. */
function withReadOnlyParent<T>(action: (repository: string, state: string) => T): T {
  const [parent, state] = [makeTempDir('parent'), makeTempDir('state')];
  const repository = makeRepositoryAt(join(parent, 'project'), { a: 'a\n' });
  process.env['XDG_STATE_HOME'] = state;
  chmodSync(parent, 0o555);
  try {
    return action(repository, state);
  } finally {
    chmodSync(parent, 0o755);
    chmodSync(state, 0o755);
    delete process.env['XDG_STATE_HOME'];
  }
}

const ok = (cwd: string, ...args: string[]) => {
  const { exitCode, stdout, stderr } = agtWithPermissions(cwd, ...args);
  expect([args, exitCode, stderr]).toEqual([args, 0, expect.anything()]);
  return { stdout, stderr };
};

test('where agt cannot write beside the repository, session folders are in the state directory', () => {
  withReadOnlyParent((repository, state) => {
    const first = ok(repository, 'session', 'new', 's1');
    const sessions = join(state, 'agt/sessions');
    expect(first.stderr).toContain(`note: session folders are in ${sessions}/project-`);
    expect(first.stderr).toContain('agt config set agt.sessionsDir DIRECTORY');
    expect(ok(repository, 'session', 'new', 's2').stderr).not.toContain('session folders are in');
    const sandbox = ok(repository, 'session', 'path', 's1').stdout.trim();
    expect(sandbox.startsWith(`${sessions}/project-`)).toBe(true);
    write(join(sandbox, 'a'), 'agent\n');
    expect(ok(sandbox, 'autocommit').stdout).toContain('s1: captured 1 path');
    ok(repository, 'session', 'accept', 's1');
    expect(git(repository, 'show', 'main:a')).toBe('agent');
    ok(repository, 'session', 'new', 'here', '--working-copy', 'in-place');
    ok(repository, 'session', 'reject', 'here');
    expect(JSON.parse(ok(repository, 'doctor', '--json').stdout).findings).toEqual([]);
    ok(repository, 'session', 'remove', 's2');
    expect(existsSync(sandbox)).toBe(false);

    chmodSync(sessions, 0o555);
    const refused = agtWithPermissions(repository, 'session', 'new', 's3');
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error: agt cannot make session folders in .*\nhint: .*agt\.sessionsDir DIRECTORY\n$/,
      ),
    ]);
    expect(git(repository, 'for-each-ref', '--format=%(refname)', 'refs/heads/agt/s3')).toBe('');
    chmodSync(sessions, 0o755);
  });
});

test('agt.sessionsDir names the directory, for each repository another one in it', () => {
  const chosen = join(makeTempDir('chosen'), 'sessions of agents');
  mkdirSync(chosen);
  const repositories = ['one', 'two'].map((name) => makeRepositoryAt(join(makeTempDir(name), 'project'), {}));
  for (const repository of repositories) {
    agtOk(repository, 'config', 'set', 'agt.sessionsDir', chosen);
    agtOk(repository, 'session', 'new', 's1');
  }
  const [one, two] = repositories.map((repository) => agtOk(repository, 'session', 'path', 's1'));
  expect([one?.startsWith(`${chosen}/project-`), one === two]).toEqual([true, false]);
  expect(JSON.parse(agtOk(one as string, 'session', 'show', '--json')).session_id).toBe('s1');
  agtOk(repositories[0] as string, 'session', 'remove', 's1');
  expect(existsSync(two as string)).toBe(true);
  const refused = agt(repositories[0] as string, 'config', 'set', 'agt.sessionsDir', 'here');
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('not an absolute path')]);
});
