/** Where there is no /proc, as on macOS (harness/without-proc): agt works as ever, or says what it cannot tell. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toolEvent } from '../harness/front.ts';
import { newSession, type TestSession } from '../harness/session.ts';
import { AGT, agtOk, git, makeTempDir, type Outcome, run, write } from '../harness/world.ts';

const WITHOUT_PROC = join(import.meta.dirname, '../harness/without-proc');
const HOLD_LOCK = join(import.meta.dirname, '../session/hold-lock.ts');
const ALL = ['ps', 'lsof', 'mount'];

const canHide =
  process.getuid?.() === 0 &&
  spawnSync('sh', ['-c', 'command -v lsof']).status === 0 &&
  spawnSync(WITHOUT_PROC, [...ALL, '--', 'true']).status === 0;

function inside(programs: readonly string[], cwd: string, script: string, input?: string): Outcome {
  const settings = { cwd, ...(input === undefined ? {} : { input }) };
  return run(WITHOUT_PROC, [...programs, '--', 'sh', '-ec', script, AGT, process.execPath], settings);
}

function done(programs: readonly string[], cwd: string, script: string, input?: string): string {
  const { exitCode, stdout, stderr } = inside(programs, cwd, script, input);
  expect(exitCode, stdout + stderr).toBe(0);
  return stdout;
}

const busy = (session: TestSession) => [
  75,
  expect.stringContaining(`another agt is using session "${session.id}"`),
];

function exitOf(programs: readonly string[], session: TestSession, script = ''): [number | null, string] {
  const { exitCode, stderr } = inside(programs, session.sandbox, `${script}"$0" autocommit --wait 0`);
  return [exitCode, stderr];
}

describe.skipIf(!canHide)('without /proc', { timeout: 120_000 }, () => {
  test('a day: nothing is missing, and no file of agt is left', () => {
    const { repository, sandbox } = newSession({ README: '1\n' });
    const read = () => readFileSync(join(sandbox, 'README'), 'utf8');
    done(ALL, sandbox, 'echo 2 >README; "$0" autocommit; echo 3 >README; "$0" autocommit; "$0" session undo');
    expect(read()).toBe('2\n');
    done(
      ALL,
      sandbox,
      '"$0" session restore --to @{2}; "$0" session fork --id s2; "$0" session redo || "$0" undo',
    );
    done(ALL, repository, '"$0" session new s3; "$0" session run s3 -- sh -c "echo run >made"');
    expect(done(ALL, repository, '"$0" list; "$0" status; "$0" session cat s3 @:made')).toContain('run');
    write(join(sandbox, 'README'), 'accepted\n');
    done(ALL, repository, '"$0" accept s1; "$0" session remove s2 s3; "$0" gc --prune=now');
    expect(readFileSync(join(repository, 'README'), 'utf8')).toBe('accepted\n');
    expect(done(ALL, repository, '"$0" doctor')).toContain('nothing is wrong');
    expect(readdirSync(join(repository, '.git/agt/locks'))).toEqual([]);
    expect(git(repository, 'fsck', '--strict')).toBe('');
  });

  test('a lock holds while its process lives, and no longer', () => {
    const session = newSession();
    const lock = join(session.repository, '.git/agt/locks/s1');
    const holding = `{ "$1" ${HOLD_LOCK} ${lock} & } >out; until grep -q held out; do sleep 0.1; done; `;
    const directory = makeTempDir();
    const hold = `cd ${directory}; ${holding}cd ${session.sandbox}; `;
    const end = 'code=0; "$0" autocommit --wait 0 || code=$?; kill -9 $!; wait $! || true; ';
    const both = inside(ALL, directory, `${hold}${end}echo $code; "$0" autocommit; echo taken over`);
    expect([both.stdout, both.stderr]).toEqual([
      expect.stringMatching(/^75\n(.*\n)*taken over\n$/),
      busy(session)[1],
    ]);
    expect(readdirSync(dirname(lock))).toEqual([]);
  });

  test('its number belongs to another process now: ps tells, and without ps the lock holds', () => {
    const session = newSession();
    const lock = join(session.repository, '.git/agt/locks/s1');
    const standing = (before: number, pid = process.pid) =>
      write(lock, JSON.stringify({ pid, start: `before ${before}`, boot: '', place: `${hostname()} ` }));
    standing(Date.now());
    expect(exitOf(ALL, session)).toEqual(busy(session));
    standing(1000);
    expect(exitOf(['lsof', 'mount'], session)).toEqual(busy(session));
    expect(exitOf(ALL, session)).toEqual([0, '']);
    expect(existsSync(lock)).toBe(false);
  });

  test("a killed git's lock goes unless it may be in use", () => {
    const session = newSession();
    const lock = join(session.repository, '.git/refs/agt/tip/s1.lock');
    write(lock, '');
    write(join(session.sandbox, 'new'), '1\n');
    for (const programs of [
      ['ps', 'mount'],
      ['lsof', 'mount'],
    ]) {
      expect(exitOf(programs, session)).toEqual([
        expect.any(Number),
        expect.stringMatching(/^error: .*\.lock/),
      ]);
      expect(existsSync(lock)).toBe(true);
    }
    expect(exitOf(ALL, session, `exec 5<${lock}; `)[0]).not.toBe(0);
    expect(existsSync(lock)).toBe(true);
    expect(exitOf(ALL, session)).toEqual([0, '']);
    expect(existsSync(lock)).toBe(false);
  });

  test('without an answer about mounts agt deletes no folder, and says so', () => {
    const { repository, folder } = newSession();
    const { exitCode, stderr } = inside(['ps', 'lsof'], repository, '"$0" session remove s1');
    expect([exitCode, stderr.split('\n')[0]]).toEqual([
      1,
      `error: agt does not delete ${folder}: it cannot tell whether something is mounted there`,
    ]);
    expect(existsSync(join(folder, 'sandbox/.git'))).toBe(true);
    done(ALL, repository, '"$0" session remove s1');
    expect(existsSync(folder)).toBe(false);
  });

  test('something is mounted in the folder: it stays', () => {
    const { repository, sandbox } = newSession();
    const script = `mkdir ${sandbox}/on; mount -t tmpfs x ${sandbox}/on; "$0" session remove s1`;
    const { exitCode, stderr } = inside(ALL, repository, script);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`${sandbox}/on is a mount point`)]);
  });

  test('the front starts agt, and its hooks answer', () => {
    const session = newSession();
    const directory = makeTempDir('front');
    agtOk(session.repository, 'shim', 'install', '--dir', directory);
    const calls = `${directory}/agt autocommit; ${directory}/agt autocommit; ${directory}/agt hook claude-code`;
    write(join(session.sandbox, 'new'), '1\n');
    done(ALL, session.sandbox, calls, toolEvent(session.sandbox));
    expect(agtOk(session.repository, 'session', 'cat', 's1', '@:new')).toBe('1');
  });

  test('a file behind a directory that became a link is not read', () => {
    const outside = makeTempDir();
    const folder = makeTempDir();
    write(join(outside, 'secret'), 'x');
    write(join(folder, 'd/file'), 'x');
    const program = `
      import { openSync, renameSync, symlinkSync } from 'node:fs';
      import { insideCheck } from '${join(import.meta.dirname, '../../src/disk/is-inside.ts')}';
      const isInside = insideCheck('${folder}');
      const own = isInside(openSync('${folder}/d/file'), '${folder}/d/file');
      renameSync('${folder}/d', '${folder}/was');
      symlinkSync('${outside}', '${folder}/d');
      console.log(own, isInside(openSync('${folder}/d/secret'), '${folder}/d/secret'));`;
    write(join(folder, 'try.mts'), program);
    expect(done(ALL, folder, `"$1" try.mts`)).toBe('true false\n');
  });

  test('the guard captures before git destroys work', () => {
    const { repository, sandbox } = newSession({ a: '1\n' });
    write(join(sandbox, 'a'), 'not committed\n');
    const { stderr } = inside(ALL, sandbox, `${join(dirname(AGT), 'git')} reset -q --hard`);
    expect(stderr).toBe('');
    expect(agtOk(repository, 'session', 'cat', 's1', '@:a')).toBe('not committed');
  });

  test('an argument that is not UTF-8: git gets no other one instead', () => {
    const { sandbox } = newSession();
    const path = join(dirname(AGT), 'git');
    const { exitCode, stderr } = inside(ALL, sandbox, `${path} commit --allow-empty -m "$(printf '\\344')"`);
    expect([exitCode, stderr]).toEqual([128, expect.stringContaining('not UTF-8')]);
  });
});
