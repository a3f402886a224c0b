/** The working copy cow-overlay: a command sees the sandbox at the user's own path, and nobody else does. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import {
  ended,
  expectNothingMounted,
  inside,
  killChildren,
  lines,
  OVERLAY,
  problem,
  snapshots,
  start,
} from './overlay.ts';

afterEach(killChildren);

describe.skipIf(problem !== undefined)(`as root${problem === undefined ? '' : ` (${problem})`}`, () => {
  let session: TestSession;

  beforeAll(() => {
    session = makeSession({ 'README.md': 'hello\n', 'src/a': 'a\n' });
  });

  test('agt session exec runs a tool there as well, and records what it wrote', () => {
    const overlaid = makeRepository({ f: 'f\n' });
    agtOk(overlaid, 'session', 'new', '--id', 'cow', '--working-copy', 'cow-overlay', '-q');
    const script = `pwd; echo agent > ${overlaid}/f`;
    const done = agt(overlaid, 'session', 'exec', 'cow', '--tool', 'Edit', '--', 'sh', '-c', script);
    expect(done).toMatchObject({ exitCode: 0, stdout: `${overlaid}\n` });
    expect([git(overlaid, 'status', '--porcelain'), readFileSync(join(overlaid, 'f'), 'utf8')]).toEqual([
      '',
      'f\n',
    ]);
    expect(git(overlaid, 'show', 'agtsessions/cow:sandbox/f')).toBe('agent');
    expectNothingMounted(overlaid);
  });

  test('the sandbox stands at the path of the checkout, and git works there', () => {
    const { repository, sandbox, folder } = session;
    const script = [
      'pwd; echo "$PWD $AGT_SANDBOX $AGT_SESSION"; command -v git',
      'git rev-parse --show-toplevel --abbrev-ref HEAD',
      'echo changed > src/a; git status --short; git stash -q; git stash list; git stash pop -q',
      'git commit -qam inside; git log --oneline --format=%s; git branch --list --format="%(refname:short)"',
      'git worktree list --porcelain | grep -c "^worktree $PWD$"',
    ];
    const found = lines(inside(session, script.join('\n')));
    expect(found).toEqual([
      repository,
      `${repository} ${repository} s1`,
      `${folder}/.agt-namespace/bin/git`,
      repository,
      'agt/s1',
      ' M src/a',
      `stash@{0}: WIP on agt/s1: ${git(repository, 'log', '-1', '--format=%h first')}`,
      'inside',
      'first',
      'agt/s1',
      'main',
      '1',
    ]);
    expect(git(repository, 'status', '--porcelain')).toBe('');
    expect(git(repository, 'log', '--format=%s')).toBe('first');
    expect(git(repository, 'worktree', 'list', '--porcelain')).toContain(`worktree ${sandbox}\n`);
    expect(git(sandbox, 'log', '-1', '--format=%s')).toBe('inside');
    expect(git(sandbox, 'status', '--porcelain')).toBe('');
    expect(agt(repository, 'doctor').stdout).toContain('nothing is wrong');
    expectNothingMounted(repository);
  });

  test('agt, its hooks and its git find the session from inside', () => {
    const { repository } = session;
    const before = snapshots(session);
    lines(inside(session, 'echo 1 > one; agt autocommit; cd src; echo 2 > two; agt autocommit'));
    expect(snapshots(session)).toBe(before + 2);
    expect(agt(repository, 'session', 'cat', 's1', '@:src/two').stdout).toBe('2\n');

    const guarded = 'echo precious > README.md; git checkout -q -- README.md; cat README.md';
    expect(lines(inside(session, guarded))).toEqual(['hello']);
    expect(agt(repository, 'session', 'cat', 's1', '@{1}:README.md').stdout).toBe('precious\n');

    const event = JSON.stringify({ session_id: 'c', hook_event_name: 'Stop', cwd: repository });
    inside(session, `echo 3 > three; printf '%s' '${event}' | agt hook claude-code stop >&2`);
    expect(agt(repository, 'session', 'cat', 's1', '@:three').stdout).toBe('3\n');
    expect(agt(repository, 'status').stdout).not.toMatch(/failed/);

    const others = inside(session, 'agt session new s9; agt doctor | head -n 2; agt session show --json');
    expect(others.stderr).toContain('session "s9" cannot be changed from inside of "s1"');
    expect(others.stdout).toContain('agt checks no sessions from inside');
    expect(others.stdout).toContain('"session_id": "s1"');
  });

  test('other sessions are out of sight, not missing; a refused fork and git gc leave nothing', () => {
    const { repository } = session;
    agtOk(repository, 'session', 'new', 'other');
    const before = snapshots(session);
    const script = [
      'agt list; agt session show other | grep "^sandbox"',
      'agt fork s1 --id s9; agt session diff other; agt accept s1 --keep -m x; git config gc.auto',
    ];
    const { stdout, stderr } = inside(session, script.join('\n'));
    expect(stdout).toMatch(/^other {2}active /m);
    expect(stdout).toContain('(out of sight from here)');
    expect(stdout).toMatch(/\n0\n$/);
    expect(stderr).toContain('cannot look into other sandboxes from here: other\n');
    expect(stderr).toContain('session "s9" cannot be changed from inside of "s1"');
    expect(stderr).toContain('agt cannot look into the sandbox of "other" from inside of "s1"');
    expect(stderr).toContain('agt cannot reach your worktree from inside');
    expect(git(repository, 'status', '--porcelain')).toBe('');
    expect(snapshots(session) - before).toBeLessThan(2); // one by accept
    agtOk(repository, 'remove', 'other');
  });

  test('nobody outside sees it, and captures work from outside meanwhile', async () => {
    const { repository, sandbox } = session;
    const before = snapshots(session);
    const child = await start(session, 'echo agent > README.md; echo; read line; cat README.md > seen');
    expect(readFileSync(join(repository, 'README.md'), 'utf8')).toBe('hello\n');
    expect(readFileSync(join(sandbox, 'README.md'), 'utf8')).toBe('agent\n');
    expect(git(repository, 'status', '--porcelain')).toBe('');
    agtOk(repository, 'autocommit', 's1');
    expect(snapshots(session)).toBe(before + 1);
    expect(JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json'))).toMatchObject({
      running: true,
      owner: { command: 'sh' },
    });
    write(join(repository, 'of the user'), 'mine\n');
    child.stdin?.end('\n');
    expect(await ended(child)).toEqual({ code: 0, signal: null });
    expect(existsSync(join(sandbox, 'of the user'))).toBe(false);
    expect(readFileSync(join(sandbox, 'seen'), 'utf8')).toBe('agent\n');
  });

  test('streams, exit code and signals are those of the command', async () => {
    const { repository } = session;
    const words = ['run', 's1', ...OVERLAY, '--', 'sh', '-c', 'cat; echo err >&2; exit 3'];
    const outcome = run(AGT, words, { cwd: repository, input: 'from stdin\n' });
    expect(outcome).toEqual({ exitCode: 3, stdout: 'from stdin\n', stderr: 'err\n' });
    expect(run(AGT, ['run', 's1', ...OVERLAY, '--', 'no-such-program'], { cwd: repository }).exitCode).toBe(
      127,
    );

    const child = await start(
      session,
      'trap "echo caught > signal; exit 7" TERM; echo; while :; do sleep 0.02; done',
    );
    child.kill('SIGTERM');
    expect(await ended(child)).toEqual({ code: 7, signal: null });
    expect(agt(repository, 'session', 'cat', 's1', '@:signal').stdout).toBe('caught\n');

    const pidFile = join(makeTempDir(), 'pid');
    const killed = await start(session, `echo $$ > ${pidFile}; echo; exec sleep 60`);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    killed.kill('SIGKILL');
    await ended(killed);
    expectNothingMounted(repository);
    agtOk(repository, 'autocommit', 's1');
    process.kill(pid, 'SIGKILL');
  });

  test('a command of a directory of the checkout runs there, in the sandbox', () => {
    const { repository } = session;
    expect(lines(inside(session, 'pwd; ls', join(repository, 'src')))[0]).toBe(join(repository, 'src'));
    mkdirSync(join(repository, 'only here'));
    expect(lines(inside(session, 'pwd', join(repository, 'only here')))).toEqual([repository]);
  });

  test('git inside does not write its path into the repository after a day', () => {
    const { repository, sandbox } = session;
    const gitdir = join(repository, '.git/worktrees/sandbox/gitdir');
    const longAgo = Date.now() / 1000 - 3 * 86_400;
    utimesSync(gitdir, longAgo, longAgo);
    utimesSync(join(session.folder, '.agt-namespace/gitdir'), longAgo, longAgo);
    lines(inside(session, 'git status --short | wc -l'));
    expect(readFileSync(gitdir, 'utf8')).toBe(`${sandbox}/.git\n`);
  });

  test('git inside can delete and break no worktree of the user', () => {
    const own = makeSession({ a: 'a\n' });
    const { repository } = own;
    const trees = ['../z-topic', 'below', '../detached'].map((path) => join(repository, path));
    for (const [i, path] of trees.entries()) {
      git(repository, 'worktree', 'add', '-q', path, ...(i === 2 ? ['--detach'] : ['-b', `b${i}`]));
      write(join(path, 'staged'), `${i}\n`);
      git(path, 'add', 'staged');
    }
    const state = () =>
      trees.map((path) => [git(path, 'status', '--porcelain'), git(path, 'rev-parse', 'HEAD')]);
    const before = state();
    const script =
      'git gc -q --prune=now; git worktree prune; git worktree repair; echo x > x; git add x; git commit -qm x';
    for (const cwd of [repository, trees[0] as string]) {
      const words = [
        'run',
        's1',
        ...OVERLAY,
        '--',
        'sh',
        '-c',
        script.replaceAll('x', cwd === repository ? 'x' : 'y'),
      ];
      expect(run(AGT, words, { cwd }).exitCode).toBe(0);
      expect(state()).toEqual(before);
    }
    expect(git(own.sandbox, 'log', '--format=%s')).toBe('y\nx\nfirst');
    expect(agt(repository, 'doctor').stdout).toContain('nothing is wrong');
    expect(git(repository, 'fsck', '--strict')).not.toMatch(/missing|broken/);
  });

  test('a link in place of the directory for it is refused, and nothing is written through it', () => {
    const other = makeSession();
    const elsewhere = makeTempDir('elsewhere');
    symlinkSync(elsewhere, join(other.folder, '.agt-namespace'));
    expect(inside(other, 'true').stderr).toMatch(/\.agt-namespace is no directory/);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test('new and fork remember it, and run needs no option then', () => {
    const { repository } = session;
    agtOk(repository, 'session', 'new', 's2', ...OVERLAY);
    const shown = JSON.parse(agtOk(repository, 'session', 'show', 's2', '--json'));
    expect([shown.working_copy, shown.stands_at]).toEqual(['cow-overlay', repository]);
    expect(agtOk(repository, 'run', 's2', '--', 'pwd')).toBe(repository);
    expect(agtOk(repository, 'run', 's2', '--working-copy', 'worktree', '--', 'pwd')).toBe(shown.sandbox);
    agtOk(repository, 'session', 'fork', 's2', '--id', 's3', '-q');
    expect(agtOk('/', '-C', shown.sandbox, 'run', 's3', '--', 'pwd')).toBe(repository);
    agtOk(repository, 'session', 'fork', 's1', '--id', 's4', '-q', ...OVERLAY);
    expect(agtOk(repository, 'run', 's4', '--', 'pwd')).toBe(repository);
    agtOk(repository, 'session', 'remove', 's3');
    expect(existsSync(`${repository}.agt/sessions/s3`)).toBe(false);
    const env = { AGT_WORKING_COPY: 'cow-overlay' };
    const made = run(AGT, ['run', 's5', '--new', '--', 'pwd'], { cwd: repository, env });
    expect(made.stdout).toBe(`${repository}\n`);
  });

  test('in an agt clone, the git directory stays where it is', () => {
    const parent = makeTempDir('clone');
    agtOk(parent, 'clone', makeRepository(), '--path', 'p');
    const top = join(parent, 'p/project/main');
    agtOk(top, 'session', 'new', 's1', ...OVERLAY);
    const script =
      'pwd; git rev-parse --show-toplevel; echo x > x; agt autocommit -q; agt session path; git gc -q; git worktree prune; git status --short';
    const inClone = run(AGT, ['run', 's1', '--', 'sh', '-c', script], { cwd: top });
    const found = inClone.stdout.trim().split('\n');
    expect(found.slice(0, 2)).toEqual([top, top]);
    expect(found.at(-1)).toBe('?? x');
    expect(git(top, 'status', '--porcelain')).toBe('');
    const made = run(AGT, ['run', 's1', '--', 'agt', 'session', 'new', 's2'], { cwd: top });
    expect(made.stderr).toContain('Read-only file system');
    expect(made.exitCode).not.toBe(0);
    expect(agt(top, 'doctor').stdout).toContain('nothing is wrong');
  });

  test.each<[string, RegExp, (session: TestSession) => string[]]>([
    [
      'in place',
      /works in place/,
      ({ repository }) => ['new', 'in', '--working-copy', 'in-place', '-q', '-C', repository],
    ],
  ])('a session %s is refused', (_, message, words) => {
    const other = makeSession();
    agtOk(other.repository, ...words(other));
    const outcome = agt(other.repository, 'run', 'in', ...OVERLAY, '--', 'true');
    expect(outcome.stderr).toMatch(message);
    expect(outcome.exitCode).toBe(1);
    agtOk(other.repository, 'session', 'remove', 'in');
  });
});
