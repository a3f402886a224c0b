/**
 * One life of sessions with every provider. A provider changes how long things take, never what a sandbox holds: git,
 * where agt copies files by itself, is the oracle of the others.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { providerOf } from '../../src/providers/choose.ts';
import { listMoments } from '../../src/workspace/moments.ts';
import { btrfsProblem, type Disk, mountBtrfs, mountExt4, overlayProblem } from '../harness/disks.ts';
import {
  autocommit,
  onDisk,
  sessionOf,
  snapshotFolder,
  snapshotTree,
  type TestSession,
} from '../harness/session.ts';
import { NO_STRACE, strace, straceWorks } from '../harness/strace.ts';
import { AGT, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { mountZfs, zfsProblem } from '../harness/zfs.ts';

interface Kind {
  readonly kind: 'btrfs' | 'zfs' | 'overlay';
  /** Why it cannot be tested here. */
  readonly problem: string | undefined;
  readonly mount: () => Disk;
}

const KINDS: readonly Kind[] = [
  { kind: 'btrfs', problem: btrfsProblem(), mount: mountBtrfs },
  { kind: 'zfs', problem: zfsProblem(), mount: mountZfs },
  { kind: 'overlay', problem: overlayProblem(), mount: mountExt4 },
];
const TESTED = KINDS.filter(({ problem }) => problem === undefined);

function makeProject(parent: string): string {
  const repository = join(parent, 'project');
  mkdirSync(repository, { recursive: true });
  git(repository, 'init', '-q', '-b', 'main');
  for (const name of ['a', 'b', 'src/c', 'src/d e', 'g\u00e9', 'converted.txt', 'secret.env'])
    write(join(repository, name), `${name}\n`);
  write(join(repository, '.gitignore'), 'built/\n*.env\n');
  write(join(repository, '.gitattributes'), '*.txt eol=crlf\n');
  write(join(repository, '.worktreeinclude'), 'secret.env\n');
  write(join(repository, 'run.sh'), '#!/bin/sh\n', 0o755);
  symlinkSync('src/c', join(repository, 'link'));
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'first');
  return repository;
}

/** The content of the sandbox, and git's word on it. */
function facts(session: TestSession): Record<string, unknown> {
  const { sandbox, folder } = session;
  const told = (...args: string[]) => run(REAL_GIT, args, { cwd: sandbox }).stdout;
  return {
    files: [...snapshotFolder(folder)].sort(),
    beside: readdirSync(folder).filter((name) => !name.startsWith('.agt-')),
    status: told('status', '--porcelain=v2', '--ignored', '-z'),
    index: told('ls-files', '--stage', '--debug').replace(/^ .*\n/gm, ''),
    head: told('symbolic-ref', 'HEAD') + told('rev-parse', 'HEAD^{tree}'),
  };
}

/** The snapshot that the next autocommit makes is the disk. */
function capture(session: TestSession): Record<string, unknown> {
  const { outcome, changes, skipped, read } = autocommit(session);
  expect(snapshotTree(session, `agtsessions/${session.id}`)).toEqual(onDisk(session));
  return { outcome, changes, skipped, read };
}

function agentWorks({ sandbox, folder }: TestSession): void {
  write(join(sandbox, 'a'), 'staged\n');
  git(sandbox, 'add', 'a');
  write(join(sandbox, 'a'), 'not staged\n');
  rmSync(join(sandbox, 'b'));
  write(join(sandbox, 'built/lib/x.o'), 'object\n', 0o600);
  utimesSync(join(sandbox, 'built/lib/x.o'), 1_000_000_000, 1_000_000_000);
  mkdirSync(join(sandbox, 'empty'));
  chmodSync(join(sandbox, 'src/c'), 0o600);
  git(sandbox, 'init', '-q', 'nested');
  write(join(sandbox, 'nested/n'), 'n\n');
  spawnSync('mkfifo', [join(sandbox, 'pipe')]);
  write(join(folder, 'config/token'), 'token\n', 0o600);
  write(join(folder, 'beside'), 'beside\n');
}

/** Every step of the life, with the facts after it. */
function live(parent: string, provider: string): { found: Record<string, unknown>; repository: string } {
  const repository = makeProject(parent);
  const found: Record<string, unknown> = {};
  const [one, two, three, four, fork, old] = ['s1', 's2', 's3', 's4', 'f1', 'f2'].map((id) =>
    sessionOf(repository, id),
  ) as [TestSession, TestSession, TestSession, TestSession, TestSession, TestSession];
  const make = (...args: string[]) => agtOk(repository, 'session', ...args, '--fs-snapshots', provider);
  make('new', one.id);
  found['new'] = [facts(one), capture(one)];
  make('new', two.id);
  found['new again'] = [facts(two), capture(two)];
  write(join(repository, 'src/c'), 'other\n');
  git(repository, 'rm', '-q', 'b');
  git(repository, 'commit', '-q', '-am', 'second');
  git(repository, 'config', 'core.eol', 'lf');
  make('new', three.id);
  found['new at another commit'] = [facts(three), capture(three)];
  agentWorks(two);
  make('fork', two.id, '--id', fork.id);
  const built = join(fork.sandbox, 'built/lib/x.o');
  found['fork'] = [facts(fork), capture(fork), run('stat', ['-c', '%Y %a', built], { cwd: '/' }).stdout];
  make('fork', two.id, '--id', old.id, '--at', '@{1}');
  found['fork --at'] = [facts(old), capture(old)];
  make('new', four.id, '--from', 's1');
  found['new --from'] = facts(four);
  agtOk(repository, 'session', 'restore', fork.id, '--to', '@{2}');
  found['restored'] = facts(fork);
  agtOk(repository, 'undo', fork.id);
  found['undone'] = facts(fork);
  agtOk(repository, 'session', 'remove', fork.id);
  found['removed'] = existsSync(fork.folder);
  agtOk(repository, 'session', 'restore', fork.id, '--to', '@');
  found['restored after removal'] = [facts(fork), capture(fork)];
  return { found, repository };
}

let oracle: Record<string, unknown>;

test.skipIf(TESTED.length === 0)('git is the oracle: its own life is sound', () => {
  const { found, repository } = live(makeTempDir(), 'git');
  oracle = found;
  expect(found['new']).toMatchObject([{}, { read: expect.any(Number) }]);
  expect(JSON.stringify(found['fork'])).toContain('1000000000 600');
  for (const id of ['s1', 's3', 's4', 'f1', 'f2']) agtOk(repository, 'session', 'remove', id);
  agtOk(repository, 'session', 'remove', 's2', '--force');
});

/** A clock that counts whole seconds makes agt read files once more. */
function withoutReads(facts: unknown): unknown {
  return JSON.parse(JSON.stringify(facts, (key, value) => (key === 'read' ? undefined : value)));
}

for (const { kind, problem } of KINDS.filter((one) => one.problem !== undefined))
  test.skip(`${kind} (${problem})`, () => {});

describe.each(TESTED)('$kind', ({ kind, mount }) => {
  const provider = providerOf(kind);
  let disk: Disk;
  let state: string;
  let repository: string;

  beforeAll(() => {
    disk = mount();
    state = makeTempDir('state');
    process.env['XDG_STATE_HOME'] = state;
    if (kind === 'overlay') process.env['AGT_FS_SNAPSHOTS'] = kind; // nobody gets it unasked
  });

  afterAll(() => {
    for (const name of ['XDG_STATE_HOME', 'AGT_FS_SNAPSHOTS']) delete process.env[name];
    disk.unmount();
  });

  const leases = () => readdirSync(join(state, 'agt/leases'));

  test('the life is that of git', () => {
    const life = live(disk.path, kind);
    ({ repository } = life);
    for (const [step, expected] of Object.entries(oracle))
      expect([step, withoutReads(life.found[step])]).toEqual([step, withoutReads(expected)]);
    if (kind === 'btrfs') expect(life.found).toEqual(oracle);
    const shown = JSON.parse(agtOk(repository, 'session', 'show', 'f1', '--json'));
    expect([shown.provider, shown.working_copy]).toEqual([kind, 'worktree']);
    expect(agtOk(repository, 'session', 'show', 'f1')).toMatch(new RegExp(`^provider +${kind}$`, 'm'));
  });

  test('git opens no tracked file in a clone, and the first autocommit there reads none', (context) => {
    if (!straceWorks) return context.skip(NO_STRACE);
    for (const [id, args] of [
      ['clone', ['new', 'clone']],
      ['cloned-fork', ['fork', 's1', '--id', 'cloned-fork']],
    ] as const) {
      agtOk(repository, 'session', ...args);
      const { sandbox } = sessionOf(repository, id);
      const log = join(makeTempDir(), 'log');
      strace(log, ['-e', 'trace=open,openat,readlink'], [REAL_GIT, 'status'], sandbox);
      const calls = readFileSync(log, 'latin1');
      expect([id, ['a', 'src/c', 'run.sh', 'link'].filter((path) => calls.includes(`"${path}"`))]).toEqual([
        id,
        [],
      ]);
      agtOk(repository, 'session', 'remove', id);
    }
  });

  test('each session is a folder of the provider with a lease; at the end nothing is left but the template', () => {
    const sessions = join(`${repository}.agt`, 'sessions');
    expect(provider.walk(sessions).map(({ path }) => path)).toEqual(
      ['f1', 'f2', 's1', 's2', 's3', 's4'].map((id) => join(sessions, id)),
    );
    expect(leases()).toHaveLength(7);
    for (const id of ['f1', 'f2', 's1', 's3', 's4']) agtOk(repository, 'session', 'remove', id);
    expect(run(AGT, ['session', 'remove', 's2'], { cwd: repository }).stderr).toContain('cannot capture');
    agtOk(repository, 'session', 'remove', 's2', '--force');
    expect(provider.walk(sessions)).toEqual([]);
    expect(leases()).toHaveLength(1);
    expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);
  });

  test('agt removes no folder that it has not made, and what is frozen may be lost', async () => {
    agtOk(repository, 'session', 'new', 'mine');
    const { folder } = sessionOf(repository, 'mine');
    const [token] = provider.walk(join(folder, '..'));
    const other = { ...(token as NonNullable<typeof token>), nonce: '0123456789abcdef' };
    expect(await provider.remove(other)).toBe(false);
    expect(existsSync(folder)).toBe(true);
    const frozen = join(`${repository}.agt`, 'frozen');
    for (const name of readdirSync(frozen)) {
      const nonce = name.split('-').at(-1) as string;
      expect(await provider.remove({ kind, nonce, path: join(frozen, name) })).toBe(true);
    }
    agtOk(repository, 'session', 'new', 'next');
    agtOk(repository, 'session', 'fork', 'mine', '--id', 'forked');
    for (const id of ['mine', 'next', 'forked']) agtOk(repository, 'session', 'remove', id);
  });

  test.runIf(kind === 'btrfs')('an owner without root clones and removes', () => {
    const parent = join(disk.path, 'user');
    mkdirSync(parent);
    chmodSync(parent, 0o777);
    const user = (...words: string[]) => {
      const env = { HOME: parent, XDG_STATE_HOME: join(parent, 'state') };
      const outcome = run('setpriv', ['--reuid=1000', '--regid=1000', '--clear-groups', ...words], {
        cwd: parent,
        env,
      });
      if (outcome.exitCode !== 0) throw new Error(outcome.stderr);
      return outcome.stdout;
    };
    const script = [
      'git init -q -b main p && cd p && git config user.name u && git config user.email u@example.com',
      'echo a > a && git add a && git commit -q -m a',
      `"${AGT}" session new u1 -q && "${AGT}" session new u2 -q`,
      `"${AGT}" session fork u2 --id u3 -q && git -C ../p.agt/sessions/u3/sandbox status --porcelain`,
      `"${AGT}" doctor --verbose | grep btrfs`,
      `"${AGT}" session show u3 --json | grep provider`,
      `"${AGT}" session remove u1 && "${AGT}" session remove u2 && "${AGT}" session remove u3`,
    ].join('\n');
    const said = user('sh', '-ec', script);
    expect(said).toContain('"provider": "btrfs"');
    expect(said).toContain('60');
    expect(existsSync(join(parent, 'p.agt/sessions'))).toBe(false);
  });

  test('when the repository is deleted, agt doctor finds its clones from anywhere', () => {
    agtOk(repository, 'session', 'new', 'left');
    const { folder, sandbox } = sessionOf(repository, 'left');
    for (let n = 0; n < 300; n++) write(join(sandbox, `f${n}`), 'many\n');
    const { commit } = autocommit(sessionOf(repository, 'left'));
    const owner = { session_id: 'left', sandbox };
    const moments = listMoments(join(repository, '.git/agt'), owner);
    const moment = moments.findLast((one) => one.commit === commit)?.token.path;
    rmSync(repository, { recursive: true });
    const report = run(AGT, ['doctor', '--json'], { cwd: makeTempDir() });
    const { findings } = JSON.parse(report.stdout);
    expect(findings).toContainEqual(
      expect.objectContaining({ level: 'note', about: folder, fixable: false }),
    );
    expect(findings).toContainEqual(expect.objectContaining({ level: 'note', fixable: true }));
    run(AGT, ['doctor', '--fix'], { cwd: makeTempDir() });
    // An overlay needs the template below it, and freezes nothing.
    if (kind !== 'overlay') {
      expect(findings).toContainEqual(
        expect.objectContaining({ level: 'note', about: moment, fixable: false }),
      );
      expect(readdirSync(join(`${repository}.agt`, 'frozen'))).toEqual([basename(moment as string)]);
    }
    expect([existsSync(folder), report.exitCode]).toEqual([true, 0]);
    if (kind !== 'btrfs') return;
    rmSync(folder, { recursive: true });
    expect(run(AGT, ['doctor', '--fix'], { cwd: makeTempDir() }).exitCode).toBe(0);
    expect(readdirSync(join(`${repository}.agt`, 'frozen'))).toEqual([]);
  });
});
