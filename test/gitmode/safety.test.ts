/** git mode never obeys the content of a repository, never sends hidden refs, and changes no line without a reason. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  AGT,
  GIT_MODE,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  runsAsGit,
  write,
} from '../harness/world.ts';
import { words } from '../twin/compare.ts';
import { LINES } from '../twin/lines.ts';

describe('in a repository with nothing to hide', () => {
  let repository: string;
  let record: string;
  let recorder: string;
  beforeAll(() => {
    repository = makeRepository();
    git(repository, 'branch', 'feature');
    git(repository, 'pack-refs', '--all');
    record = join(makeTempDir('record'), 'calls');
    recorder = join(makeTempDir('recorder'), 'git');
    write(recorder, `#!/bin/sh\n{ [ $# = 0 ] || printf '%s\\0' "$@"; echo; } >>'${record}'\n`);
    chmodSync(recorder, 0o755);
  });

  const lines = Object.values(LINES).flat();
  test(`${lines.length} command lines reach git unchanged, in one call`, () => {
    const changed: string[] = [];
    for (const line of lines) {
      const [command = ''] = line.replace(/^!/, '').split(' <<< ');
      const args = words(command);
      rmSync(record, { force: true });
      run(GIT_MODE, args, { cwd: repository, env: runsAsGit(recorder) });
      const calls = readFileSync(record, 'utf8');
      if (calls !== `${args.map((word) => `${word}\0`).join('')}\n`) changed.push(line);
    }
    expect(changed).toEqual([]);
  }, 300_000);
});

describe('settings', () => {
  test('in a worktree have no effect, neither on the git that runs nor on whose commits are hidden', () => {
    const repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    git(repository, 'branch', 'visible/x');
    const trap = join(repository, 'trap');
    write(trap, '#!/bin/sh\necho trapped\n', 0o755);
    const hostile = `[agt]\n\tgitPath = ${trap}\n\tagentEmail = ann@example.com\n\tworkPrefix = visible/\n`;
    for (const path of ['.agt/config', '.agtconfig', 'agt/config']) write(join(repository, path), hostile);
    const output = (args: string[]) =>
      run(GIT_MODE, args, { cwd: repository, env: { AGT_GIT_PATH: undefined } }).stdout;
    expect(output(['branch'])).toBe('* main\n  visible/x\n');
    expect(output(['log', '--format=%ae'])).toBe('ann@example.com\n');
    expect(output(['status', '--short', '-uno'])).toBe('');
  });

  test('a variable names no program but a git on PATH', () => {
    const repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    const bin = makeTempDir('shim');
    run(AGT, ['shim', 'install', '--dir', bin], { cwd: '/' });
    const trap = join(repository, 'git');
    write(trap, '#!/bin/sh\necho trapped\n', 0o755);
    write(join(repository, 'branch'), 'echo trapped\n');
    for (const named of [trap, '/bin/sh']) {
      const call = { cwd: repository, env: { AGT_GIT_PATH: named } };
      for (const program of [GIT_MODE, join(bin, 'git')]) {
        const outcome = run(program, ['branch'], call);
        expect(outcome).toMatchObject({ exitCode: 0, stdout: '* main\n' });
        expect(outcome.stderr).toMatch(/^warning: agt: [^\n]+ is not a git on PATH\n$/);
      }
      expect(run(AGT, ['session', 'list'], call)).toMatchObject({ exitCode: 1, stdout: '' });
    }
  });

  test('git itself refuses the repository of another user, in its own words', () => {
    const repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    const env = { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' };
    for (const args of [['branch'], ['log', '--all'], ['push', '--all', 'x']]) {
      expect(run(GIT_MODE, args, { cwd: repository, env })).toEqual(
        run(REAL_GIT, args, { cwd: repository, env }),
      );
    }
  });

  test('that cannot be read: a reading command warns and hides, a publishing command refuses', () => {
    const repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    write(join(repository, '.git/agt/config'), '[agt\n');
    const branches = run(GIT_MODE, ['branch'], { cwd: repository });
    expect(branches.stdout).toBe('* main\n');
    expect(branches.stderr).toMatch(/^warning: agt: .*bad section header in line 1\n$/);
    git(repository, 'config', 'alias.publish', 'push --all');
    const target = makeTempDir('target');
    git(target, 'init', '-q', '--bare');
    for (const args of [
      ['push', '--all', target],
      ['publish', target],
    ])
      expect(run(GIT_MODE, args, { cwd: repository }).exitCode).not.toBe(0);
    expect(git(target, 'for-each-ref')).toBe('');
  });
});

describe('rebase with rebase.updateRefs', () => {
  test('does not move an agent’s branch', () => {
    const repository = makeRepository();
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'two');
    git(repository, 'branch', 'agtsessions/s1');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'three');
    const before = git(repository, 'rev-parse', 'agtsessions/s1');
    const env = { GIT_COMMITTER_DATE: '2026-02-02T00:00:00Z' };
    run(GIT_MODE, ['-c', 'rebase.updateRefs=true', 'rebase', '-q', '--force-rebase', 'HEAD~2'], {
      cwd: repository,
      env,
    });
    expect(git(repository, 'rev-parse', 'agtsessions/s1')).toBe(before);
    expect(git(repository, 'log', '-1', '--format=%cI')).toContain('2026-02-02');
  });
});

test('fetch --prune keeps hidden remote-tracking refs', () => {
  const server = makeRepository();
  const repository = makeRepository();
  git(repository, 'remote', 'add', 'origin', server);
  git(repository, 'fetch', '-q', 'origin');
  const hidden = ['refs/remotes/origin/agt/s1', 'refs/remotes/origin/agtsessions/s1'];
  for (const ref of [...hidden, 'refs/remotes/origin/stale']) git(repository, 'update-ref', ref, 'HEAD');
  const outcome = run(GIT_MODE, ['fetch', '--prune'], { cwd: repository });
  expect(outcome.exitCode).toBe(0);
  expect(outcome.stderr).toContain('origin/stale');
  expect(outcome.stderr).not.toMatch(/origin\/agt/);
  // From git 2.48 on a fetch also makes origin/HEAD.
  const refs = git(repository, 'for-each-ref', '--format=%(refname)', 'refs/remotes').split('\n');
  expect(refs.filter((ref) => !ref.endsWith('/HEAD'))).toEqual([...hidden, 'refs/remotes/origin/main']);
});

test.each([
  ['git mode', GIT_MODE],
  ['agt', AGT],
])('push --mirror and --prune of %s keep the hidden refs of the remote, and send none', (_, program) => {
  const repository = makeRepository();
  const target = makeTempDir('target');
  git(target, 'init', '-q', '--bare');
  for (const name of ['agt/s1', 'agtsessions/s1']) git(repository, 'branch', name);
  git(repository, 'config', 'alias.publish', 'push --mirror');
  git(repository, 'push', '-q', target, 'agt/s1', 'main:refs/agt/shared/x/head', 'main:stale');
  const kept = ['refs/agt/shared/x/head', 'refs/heads/agt/s1', 'refs/heads/main'].join('\n');
  for (const words of [['push', '--mirror'], ['push', '--prune', '--all'], ['publish']]) {
    git(repository, 'push', '-q', target, 'main:stale');
    expect(run(program, [...words, target], { cwd: repository }).exitCode).toBe(0);
    expect(git(target, 'for-each-ref', '--format=%(refname)')).toBe(kept);
  }
  run(AGT, ['git', 'push', '--all', target], { cwd: repository }); // the real git
  expect(git(target, 'branch', '--list', 'agtsessions/*')).not.toBe('');
});

describe('nobody can list or fetch hidden refs from an agt clone, by', () => {
  let server: string;
  beforeAll(() => {
    const source = makeRepository();
    for (const name of ['agt/s1', 'agtsessions/s1', 'visible']) git(source, 'branch', name);
    git(source, 'update-ref', 'refs/agt/tip/s1', 'HEAD');
    const dir = makeTempDir('managed');
    const outcome = run(AGT, ['clone', source, '--path', dir], { cwd: dir });
    if (outcome.exitCode !== 0) throw new Error(outcome.stderr);
    server = git(dir, '-C', primaryWorktree(dir), 'rev-parse', '--path-format=absolute', '--git-common-dir');
    for (const name of ['agt/s1', 'agtsessions/s1']) git(server, 'update-ref', `refs/heads/${name}`, 'HEAD');
    git(server, 'update-ref', 'refs/agt/tip/s1', 'HEAD');
    git(server, 'update-ref', 'refs/tags/agtsessions/t', 'HEAD');
    writeFileSync(join(server, 'git-daemon-export-ok'), '');
  });

  const expectNothingHidden = (url: string) => {
    const refs = git(makeTempDir(), 'ls-remote', url);
    expect(refs).toContain('refs/heads/main');
    expect(refs).not.toMatch(/agt/);
    const mirror = join(makeTempDir(), 'mirror');
    git('/', 'clone', '-q', '--mirror', '--no-local', url, mirror);
    expect(git(mirror, 'for-each-ref', '--format=%(refname)')).not.toMatch(/agt/);
    const fetched = makeRepository();
    git(fetched, 'fetch', '-q', url, '+refs/*:refs/got/*');
    expect(git(fetched, 'for-each-ref', '--format=%(refname)')).not.toMatch(/agt/);
  };

  test('local path', () => expectNothingHidden(server));
  test('file://', () => expectNothingHidden(`file://${server}`));
  test('git daemon on loopback', async (context) => {
    const port = await freePort();
    const daemon = spawn(
      REAL_GIT,
      ['daemon', '--listen=127.0.0.1', `--port=${port}`, '--export-all', '--reuseaddr', server],
      { stdio: 'ignore' },
    );
    try {
      const url = `git://127.0.0.1:${port}${server}`;
      const up = async () => {
        for (let tries = 0; tries < 50; tries++) {
          if (spawnSync(REAL_GIT, ['ls-remote', url], { stdio: 'ignore' }).status === 0) return true;
          if (daemon.exitCode !== null) return false;
          await new Promise((wake) => setTimeout(wake, 100));
        }
        return false;
      };
      if (!(await up())) context.skip('git daemon does not run here');
      expectNothingHidden(url);
    } finally {
      daemon.kill();
    }
  });
});

describe('with 50,000 branches', () => {
  let repository: string;
  beforeAll(() => {
    repository = makeRepository();
    const oid = git(repository, 'rev-parse', 'HEAD');
    const names = Array.from(
      { length: 50_000 },
      (_, n) => `refs/heads/group-${n % 50}/branch-with-a-long-name-${n}`,
    );
    const hidden = Array.from({ length: 100 }, (_, n) => `refs/heads/agt/session-${n}`);
    // Written directly: git would first write each as a file.
    const lines = [...names, ...hidden].sort().map((name) => `${oid} ${name}\n`);
    const header = '# pack-refs with: peeled fully-peeled sorted \n';
    writeFileSync(join(repository, '.git/packed-refs'), header + lines.join(''));
  });

  test.each([
    ['branch'],
    ['branch -a'],
    ['branch --list *'],
    ['for-each-ref'],
    ['for-each-ref refs/heads'],
    ['show-ref'],
    ['show-ref --heads'],
    ['log --all --oneline'],
    ['rev-list --all --count'],
  ])('git %s shows all of them and nothing hidden', (line) => {
    const args = words(line);
    const got = run(GIT_MODE, args, { cwd: repository });
    expect(got.exitCode).toBe(0);
    expect(got.stderr).toBe('');
    expect(got.stdout).not.toMatch(/agt\/session/);
    if (args[0] === 'log' || args[0] === 'rev-list') return;
    const real = run(REAL_GIT, args, { cwd: repository }).stdout.split('\n');
    const visible = real.filter((text) => !/agt\/session/.test(text)).join('\n');
    expect(got.stdout === visible).toBe(true);
  });
});

function freePort(): Promise<number> {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** The primary worktree of the agt clone in `dir`. */
function primaryWorktree(dir: string): string {
  const found = spawnSync('find', [dir, '-maxdepth', '4', '-name', '.git', '-not', '-path', '*.git/*'], {
    encoding: 'utf8',
  });
  return join(found.stdout.split('\n')[0] ?? '', '..');
}

describe('an option that lacks its value at the end of the line', () => {
  test('gets none of the words that git mode adds', () => {
    const repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    git(repository, 'tag', 'agtsessions/s1', git(repository, 'commit-tree', '-m', 'x', 'HEAD^{tree}'));
    const options = `-L -n -S -G -O -I --max-count --skip --since --until --author --committer --grep --glob --exclude
      --date --decorate-refs --decorate-refs-exclude --diff-filter --diff-fil --diff-merges --output --line-prefix`;
    const lacking = options.split(/\s+/).filter((option) => {
      const { exitCode } = run(REAL_GIT, ['log', option], { cwd: repository });
      return exitCode !== 0;
    });
    expect(lacking).toEqual(expect.arrayContaining(['-L', '--since', '--decorate-refs']));
    for (const option of lacking) {
      for (const command of ['log', 'show']) {
        const real = run(REAL_GIT, [command, option], { cwd: repository });
        expect(run(GIT_MODE, [command, option], { cwd: repository })).toEqual(real);
      }
    }
  });
});
