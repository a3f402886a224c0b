/**
 * Commands killed at the steps of a provider. The same command then works, nothing is lost, and `agt doctor --fix` leaves
 * no folder that no session uses.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { providerOf } from '../../src/providers/choose.ts';
import { listMoments } from '../../src/workspace/moments.ts';
import { attack } from '../crash/aftermath.ts';
import { btrfsProblem, type Disk, mountBtrfs } from '../harness/disks.ts';
import { ofToday } from '../harness/today.ts';
import { agt, agtOk, git, makeRepositoryAt, makeTempDir, write } from '../harness/world.ts';
import { mountZfs, zfsProblem } from '../harness/zfs.ts';

const program = [process.execPath, join(import.meta.dirname, '../../dist/failure-points/main.cjs')];

const NEW = ['session', 'new', 's2', '-q'];
const FORK = ['session', 'fork', 's1', '--id', 's2', '-q'];
const REMOVE = ['session', 'remove', 's2'];
const AUTOCOMMIT = ['autocommit', 's1', '-q'];

const EVERY_STEP: [string, string, string[]][] = [
  ['a new session', 'lease: taken#1', NEW],
  ['a new session', 'workspace: made#1', NEW],
  ['a new session', 'create: worktree added#1', NEW],
  ['a new session', 'clone: at its commit#1', NEW],
  ['a new session', 'workspace: in place#1', NEW],
  ['the next template', 'template: frozen#1', NEW],
  ['the next template', 'template: recorded#1', NEW],
  ['a fork', 'workspace: made#1', FORK],
  ['a fork', 'workspace: in place#1', FORK],
  ['a removal', 'remove: moved away#1', REMOVE],
  ['a removal', 'remove: captured again#1', REMOVE],
  ['a removal', 'remove: closed#1', REMOVE],
  ['a removal', 'remove: folder removed#1', REMOVE],
];

/** AGT_TEST_STEPS=all: every step, with ZFS too. */
const STEPS = EVERY_STEP.filter((_, n) => process.env['AGT_TEST_STEPS'] === 'all' || n % 2 === 1);

const KINDS = [
  { kind: 'btrfs' as const, mount: mountBtrfs, problem: btrfsProblem() },
  ...(process.env['AGT_TEST_STEPS'] === 'all'
    ? [{ kind: 'zfs' as const, mount: mountZfs, problem: zfsProblem() }]
    : []),
];

for (const { kind, problem } of KINDS.filter((one) => one.problem !== undefined))
  test.skip(`${kind} (${problem})`, () => {});

describe.each(KINDS.filter(({ problem }) => problem === undefined))('$kind', ({ kind, mount }) => {
  let disk: Disk;
  let repository: string;
  let sessions: string;
  let state: string;

  beforeAll(() => {
    disk = mount();
    state = makeTempDir('state');
    process.env['XDG_STATE_HOME'] = state;
    repository = join(disk.path, 'project');
    sessions = join(`${repository}.agt`, 'sessions');
    makeRepositoryAt(repository, { a: 'a\n', '.gitignore': 'built\n' });
    agtOk(repository, 'session', 'new', 's1');
    write(join(sessions, 's1/sandbox/built'), 'built\n');
    write(join(sessions, 's1/sandbox/a'), 'work\n');
  });

  afterAll(() => {
    delete process.env['XDG_STATE_HOME'];
    disk.unmount();
  });

  const subvolumes = (directory: string) =>
    providerOf(kind)
      .walk(directory)
      .map(({ path }) => path);

  test.each(ofToday(STEPS))('%s, at "%s"', { timeout: 60_000 }, async (_, point, command) => {
    if (point.startsWith('template')) git(repository, 'commit', '-q', '--allow-empty', '-m', 'next');
    if (command === REMOVE) {
      agtOk(repository, ...FORK);
      write(join(sessions, 's2/sandbox/a'), 'newest\n');
    }
    const place = { repository, sandbox: join(sessions, 's1/sandbox') };
    expect(await attack(place, command, { program, env: { AGT_TEST_KILL_AT: point } })).toBe('SIGKILL');
    const again = agt(repository, ...command);
    expect(again.stderr).toMatch(again.exitCode === 0 ? /^/ : /already (exists|removed)/);
    agtOk(repository, 'doctor', '--fix');
    if (command === REMOVE) agtOk(repository, 'session', 'restore', 's2', '--to', '@');
    const content = command === NEW ? 'a\n' : command === FORK ? 'work\n' : 'newest\n';
    expect(readFileSync(join(sessions, 's2/sandbox/a'), 'utf8')).toBe(content);
    expect(existsSync(join(sessions, 's2/sandbox/built'))).toBe(command !== NEW);
    expect(git(join(sessions, 's2/sandbox'), 'status', '--porcelain')).toBe(command === NEW ? '' : ' M a');
    agtOk(repository, 'session', 'remove', 's2', '--delete-branch', '--force');
    expect(readdirSync(sessions)).toEqual(['s1']);
    expect(subvolumes(sessions)).toEqual([join(sessions, 's1')]);
    expect(agt(repository, 'doctor', '--json').exitCode).toBe(0);
  });

  const frozenMoments = () =>
    readdirSync(join(`${repository}.agt`, 'frozen')).filter((name) => name.startsWith('moment'));

  test.each(
    ofToday([
      ['lease: taken#1', AUTOCOMMIT],
      ['moment: frozen#1', AUTOCOMMIT],
      ['capture: refs moved#1', AUTOCOMMIT],
      ['moment: recorded#1', AUTOCOMMIT],
      ['moment: dropped#1', AUTOCOMMIT],
      ['moments: dropped#1', ['session', 'remove', 's1']],
    ]),
  )('frozen moments, at "%s"', { timeout: 60_000 }, async (point, command) => {
    agtOk(repository, 'config', 'set', 'fs.keep', '1');
    const place = { repository, sandbox: join(sessions, 's1/sandbox') };
    for (const round of [0, 1]) {
      for (let n = 0; n < 300; n++) write(join(place.sandbox, 'many', `f${n}`), `${point} ${round}\n`);
      if (round === 0) agtOk(repository, ...AUTOCOMMIT);
    }
    expect(await attack(place, command, { program, env: { AGT_TEST_KILL_AT: point } })).toBe('SIGKILL');
    agtOk(repository, 'doctor', '--fix');
    if (command !== AUTOCOMMIT) {
      expect(frozenMoments()).toEqual([]);
      agtOk(repository, 'session', 'restore', 's1', '--to', '@');
    }
    agtOk(repository, ...AUTOCOMMIT);
    const last = git(repository, 'show', 'agtsessions/s1:sandbox/many/f7');
    expect(last).toBe(`${point} 1`);
    const moments = listMoments(join(repository, '.git/agt'), { session_id: 's1', sandbox: place.sandbox });
    expect(frozenMoments().sort()).toEqual(moments.map(({ token }) => basename(token.path)).sort());
    expect(moments.length).toBeLessThanOrEqual(2); // the next one drops the oldest
    expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);
  });

  test('at the end there is one template, and each folder has its lease', () => {
    const frozen = join(`${repository}.agt`, 'frozen');
    const old = readdirSync(frozen).filter((name) => name.startsWith('template')).length;
    expect(readdirSync(join(state, 'agt/leases'))).toHaveLength(1 + readdirSync(frozen).length);
    expect(old).toBe(1);
    git(repository, 'fsck', '--strict');
  });
});
