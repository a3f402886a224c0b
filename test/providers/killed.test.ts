/**
 * Commands killed at the steps of a provider. The same command then works, nothing is lost, and `agt doctor --fix` leaves
 * no folder that no session uses.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { btrfsProvider } from '../../src/providers/btrfs/provider.ts';
import { attack } from '../crash/aftermath.ts';
import { btrfsProblem, type Disk, mountBtrfs } from '../harness/disks.ts';
import { agt, agtOk, git, makeTempDir, write } from '../harness/world.ts';

const problem = btrfsProblem();
const program = [process.execPath, join(import.meta.dirname, '../../dist/failure-points/main.cjs')];

const NEW = ['session', 'new', 's2', '-q'];
const FORK = ['session', 'fork', 's1', '--id', 's2', '-q'];
const REMOVE = ['session', 'remove', 's2'];

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

/** AGT_TEST_STEPS=all: every step. */
const STEPS = EVERY_STEP.filter((_, n) => process.env['AGT_TEST_STEPS'] === 'all' || n % 2 === 1);

describe.skipIf(problem !== undefined)(`btrfs${problem === undefined ? '' : ` (${problem})`}`, () => {
  let disk: Disk;
  let repository: string;
  let sessions: string;
  let state: string;

  beforeAll(() => {
    disk = mountBtrfs();
    state = makeTempDir('state');
    process.env['XDG_STATE_HOME'] = state;
    repository = join(disk.path, 'project');
    sessions = join(`${repository}.agt`, 'sessions');
    mkdirSync(repository);
    git(repository, 'init', '-q', '-b', 'main');
    write(join(repository, 'a'), 'a\n');
    write(join(repository, '.gitignore'), 'built\n');
    git(repository, 'add', '-A');
    git(repository, 'commit', '-q', '-m', 'first');
    agtOk(repository, 'session', 'new', 's1');
    write(join(sessions, 's1/sandbox/built'), 'built\n');
    write(join(sessions, 's1/sandbox/a'), 'work\n');
  });

  afterAll(() => {
    delete process.env['XDG_STATE_HOME'];
    disk.unmount();
  });

  const subvolumes = (directory: string) => btrfsProvider.walk(directory).map(({ path }) => path);

  test.each(STEPS)('%s, at "%s"', { timeout: 60_000 }, async (_, point, command) => {
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

  test('at the end there is one template, and each folder has its lease', () => {
    const frozen = join(`${repository}.agt`, 'frozen');
    const old = readdirSync(frozen).length;
    expect(readdirSync(join(state, 'agt/leases'))).toHaveLength(1 + old);
    expect(old).toBeLessThanOrEqual(3); // agt doctor waits ten minutes before it drops one that another agt may be making
    git(repository, 'fsck', '--strict');
  });
});
