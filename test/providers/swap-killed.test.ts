/**
 * A restore by swap, killed between its steps, or while a system call fails in agt or in a program that it runs. The next
 * command finishes it or goes back, nothing is lost, and no folder is left. AGT_TEST_STEPS=all: every step, every call.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listMoments } from '../../src/providers/moment.ts';
import { tokenAt, tokenText } from '../../src/providers/token.ts';
import { aloneProblem, scriptAlone, tryAlone } from '../harness/alone.ts';
import { btrfsProblem, type Disk, mountBtrfs } from '../harness/disks.ts';
import { sessionOf, type TestSession } from '../harness/session.ts';
import { NO_STRACE, straceWorks } from '../harness/strace.ts';
import { agt, agtOk, git, makeRepositoryAt, makeTempDir, write } from '../harness/world.ts';

const problem = btrfsProblem() ?? aloneProblem();
const FILES = 300;
const UNDO = ['undo', 's1'];

/** The steps at which the folders change, and some others. */
const ALWAYS = ['swap: cloned#1', 'swap: moved aside#1', 'swap: in place#1', 'swap: named#1', 'swap: kept#1'];

/** Calls of each process and thread, counted from 1, and one of them to try at least. */
const CALLS = { rename: 9, fsync: 5, ioctl: 1, link: 2, unlink: 3, mkdir: 1, utimensat: 2 };

describe.skipIf(problem !== undefined)(`btrfs${problem === undefined ? '' : ` (${problem})`}`, () => {
  let disk: Disk;
  let repository: string;
  let session: TestSession;
  let state: string;
  let turn = 0;

  beforeAll(() => {
    disk = mountBtrfs();
    state = makeTempDir('state');
    process.env['XDG_STATE_HOME'] = state;
    repository = makeRepositoryAt(join(disk.path, 'project'), { a: 'a\n', '.gitignore': 'modules\n' });
    agtOk(repository, 'session', 'new', 's1');
    agtOk(repository, 'config', 'set', 'fs.keep', '4');
    session = sessionOf(repository, 's1');
    for (let n = 0; n < FILES; n++) write(join(session.sandbox, `modules/d${n % 9}/f${n}`), `${n}\n`);
  });

  afterAll(() => {
    delete process.env['XDG_STATE_HOME'];
    disk.unmount();
  });

  const modules = () => join(session.sandbox, 'modules');
  const isThere = () => existsSync(join(modules(), 'd8/f8'));

  /** Everything is captured, then the agent changes a file and deletes the modules. */
  function prepare(): { readonly kept: string; readonly deleted: string } {
    const [kept, deleted] = [`kept ${++turn}\n`, `deleted ${turn}\n`];
    write(join(session.sandbox, 'a'), kept);
    agtOk(repository, 'autocommit', 's1', '-q');
    write(join(session.sandbox, 'a'), deleted);
    rmSync(modules(), { recursive: true });
    return { kept, deleted };
  }

  function nothingIsLeft(): void {
    const beside = readdirSync(join(session.folder, '..'));
    expect(beside).toEqual(['s1']);
    const record = JSON.parse(readFileSync(join(repository, '.git/agt/sessions/s1.json'), 'utf8'));
    const token = tokenAt(session.folder);
    expect([record.intent, record.token]).toEqual([undefined, token && tokenText(token)]);
    const frozen = readdirSync(join(`${repository}.agt`, 'frozen')).filter((name) =>
      name.startsWith('moment'),
    );
    const owner = { session_id: 's1', sandbox: session.sandbox };
    const moments = listMoments(join(repository, '.git/agt'), owner).map(({ token: { path } }) =>
      basename(path),
    );
    // agt forgets a moment after it has dropped the folder: at the latest when it drops the next one.
    expect(moments).toEqual(expect.arrayContaining(frozen));
    const leases = readdirSync(join(state, 'agt/leases')).filter((name) => name.endsWith('.json'));
    expect(leases).toHaveLength(2 + frozen.length); // session, template
    expect(readdirSync(join(repository, '.git/worktrees/sandbox'))).not.toContain('locked');
    expect(git(session.sandbox, 'status', '--porcelain')).toBe(' M a');
    expect(JSON.parse(agt(repository, 'doctor', '--json').stdout).findings).toEqual([]);
  }

  function listPoints(): string[] {
    prepare();
    const { dev } = statSync(session.folder);
    const list = join(makeTempDir(), 'list');
    const done = tryAlone(repository, UNDO, { AGT_TEST_LIST_POINTS: list });
    expect([done.exitCode, done.stderr, statSync(session.folder).dev === dev]).toEqual([0, '', false]);
    nothingIsLeft();
    return readFileSync(list, 'utf8').trim().split('\n');
  }

  /** `interrupt` undoes, and returns whether it was interrupted, as this function does. */
  function survives(interrupt: () => boolean): boolean {
    const { kept, deleted } = prepare();
    const isInterrupted = interrupt();
    if (turn % 3 === 0) agt(repository, 'autocommit', 's1');
    if (turn % 3 !== 1) agtOk(repository, 'doctor', '--fix');
    // It may have come to its end.
    const isDone = isThere() && readFileSync(join(session.sandbox, 'a'), 'utf8') === kept;
    // Where only one of two refs has moved, agt warns of that.
    const again = isDone ? undefined : tryAlone(repository, UNDO);
    expect(again?.stderr ?? '').not.toMatch(/^error/m);
    if (!isDone) expect(readdirSync(join(session.folder, '..'))).toEqual(['s1']);
    agtOk(repository, 'doctor', '--fix');
    expect([readdirSync(modules()).length, readFileSync(join(session.sandbox, 'a'), 'utf8')]).toEqual([
      9,
      kept,
    ]);
    const snapshots = git(
      repository,
      'log',
      '--format=%H',
      '-6',
      '--grep=Agt-Session',
      'agtsessions/s1',
    ).split('\n');
    expect(snapshots.map((commit) => `${git(repository, 'show', `${commit}:sandbox/a`)}\n`)).toContain(
      deleted,
    );
    nothingIsLeft();
    return isInterrupted;
  }

  function survivesKill(point: string): void {
    survives(() => {
      const { exitCode } = tryAlone(repository, UNDO, { AGT_TEST_KILL_AT: point });
      // How often agt writes a state file depends on the moments that it drops.
      if (ALWAYS.includes(point)) expect(exitCode).toBe(137);
      return exitCode === 137;
    });
  }

  /**
   * False if there was no such call. Nobody outside of its namespace can tell that the owner of a lock has ended, so the
   * test does what agt tells a person to do.
   */
  function survivesRefusal(call: string, which: number): boolean {
    const log = join(makeTempDir('strace'), 'log');
    const rule = `trace=${call} -e inject=${call}:error=${which % 2 === 0 ? 'EIO' : 'ENOSPC'}:when=${which}`;
    return survives(() => {
      const script = `strace -f -qq -o "$log" -e ${rule} $agt undo s1`;
      const { exitCode, stderr } = scriptAlone(repository, script, { log });
      if (exitCode !== 0) expect(stderr).toMatch(/^error: /m);
      expect(stderr).not.toContain('internal');
      rmSync(join(repository, '.git/agt/locks/s1'), { force: true });
      return readFileSync(log, 'latin1').includes('(INJECTED)');
    });
  }

  test('killed at each step', { timeout: 300_000 }, () => {
    const passed = listPoints();
    expect(passed).toEqual(expect.arrayContaining(ALWAYS));
    // Nobody outside of its namespace can tell that the owner of a lock has ended.
    const others = passed.filter((point) => !/^lock/.test(point) && !ALWAYS.includes(point));
    const isAll = process.env['AGT_TEST_STEPS'] === 'all';
    const chosen = isAll ? others : others.filter((_, n) => n % Math.ceil(others.length / 2) === 1);
    for (const point of [...ALWAYS, ...chosen]) {
      try {
        survivesKill(point);
      } catch (error) {
        throw new Error(`killed at "${point}" (turn ${turn}): ${(error as Error).message}`, { cause: error });
      }
    }
  });

  test('agt says where a folder is that was made in the place of the session meanwhile', () => {
    prepare();
    expect(tryAlone(repository, UNDO, { AGT_TEST_KILL_AT: 'swap: moved aside#1' }).exitCode).toBe(137);
    rmSync(join(repository, '.git/agt/locks/s1'));
    write(join(session.sandbox, 'mine'), 'mine\n');
    const { exitCode, stderr } = agt(repository, 'autocommit', 's1');
    const [, moved = ''] = /^hint: .* that folder is now (.*)$/m.exec(stderr) ?? [];
    expect([exitCode, readFileSync(join(moved, 'sandbox/mine'), 'utf8')]).toEqual([1, 'mine\n']);
    rmSync(moved, { recursive: true });
    agtOk(repository, 'autocommit', 's1', '-q');
    expect(tryAlone(repository, UNDO)).toMatchObject({ exitCode: 0 });
    agtOk(repository, 'doctor', '--fix');
    nothingIsLeft();
  });

  test('while a system call fails', { timeout: 3_600_000 }, ({ skip }) => {
    skip(!straceWorks, NO_STRACE);
    const isAll = process.env['AGT_TEST_STEPS'] === 'all';
    const failed: string[] = [];
    let met = 0;
    for (const [call, some] of Object.entries(CALLS))
      for (let which = isAll ? 1 : some; isAll || which === some; which++) {
        try {
          if (!survivesRefusal(call, which)) break;
          met++;
        } catch (error) {
          const { stack, actual, expected } = error as Error & { actual?: unknown; expected?: unknown };
          failed.push(`${call} ${which} (turn ${turn}): ${stack}\n${JSON.stringify([actual, expected])}`);
          break;
        }
      }
    console.log(`${met} refused calls`);
    expect(failed.join('\n\n')).toBe('');
  });
});
