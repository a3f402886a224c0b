/** Single system calls fail with EIO, as on a dying disk (by strace(1)): a clear error, and nothing is lost. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, snapshotTree, type TestSession } from '../harness/session.ts';
import { NO_STRACE, strace, straceWorks } from '../harness/strace.ts';
import { ofToday } from '../harness/today.ts';
import { AGT, agtOk, git, makeTempDir, type Outcome, run, write } from '../harness/world.ts';
import { leftovers } from './aftermath.ts';

/** Runs agt while the system calls in `rules` fail; with `path`, only calls on that path. */
function failing(
  session: TestSession,
  rules: readonly string[],
  path: string | undefined,
  command = ['autocommit', '--session-id', 's1'],
): Outcome {
  const only = path === undefined ? [] : ['-P', path];
  const inject = rules.flatMap((rule) => ['-e', `inject=${rule}`]);
  const log = join(makeTempDir('strace'), 'log');
  return strace(log, ['-qq', ...inject, ...only], [AGT, ...command], session.repository);
}

/** A snapshot, then changes beside the file that is to fail. */
function changed(): TestSession {
  const session = makeSession({ good: 'good\n', bad: 'bad\n', 'd/one': 'one\n', 'd/two': 'two\n' });
  agtOk(session.repository, 'autocommit', '--session-id', 's1');
  for (const path of ['good', 'bad', 'd/one']) write(join(session.sandbox, path), 'changed\n');
  writeFileSync(join(session.repository, '.git/agt/timestamps/s1'), '1000\n');
  return session;
}

const tip = ({ repository }: TestSession) => git(repository, 'rev-parse', 'agtsessions/s1');

describe('a file that cannot be read keeps its last version, and agt names it', () => {
  test.for(
    ofToday([
      ['a file', 'bad', ['read:error=EIO', 'pread64:error=EIO'], 'sandbox/bad', 'bad\n'],
      ['the place of a file', 'bad', ['statx:error=EIO'], 'sandbox/bad', 'bad\n'],
      ['a directory', 'd', ['getdents64:error=EIO'], 'sandbox/d', undefined],
    ] as const),
  )('%s', ([, path, rules, named, kept], { skip }) => {
    skip(!straceWorks, NO_STRACE);
    const session = changed();
    // Makes agt list the directory again.
    write(join(session.sandbox, 'd/new'), 'new\n');
    const outcome = failing(session, rules, join(session.sandbox, path));
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toMatch(new RegExp(`${named}.*i/o error \\(EIO\\)`));
    const tree = snapshotTree(session, 'agtsessions/s1');
    expect(tree.get('sandbox/good')).toBe('100644 changed\n');
    if (kept !== undefined) expect(tree.get('sandbox/bad')).toBe(`100644 ${kept}`);
    else expect([tree.get('sandbox/d/one'), tree.get('sandbox/d/new')]).toEqual(['100644 one\n', undefined]);
    expect(readFileSync(join(session.repository, '.git/agt/timestamps/s1'), 'utf8')).toBe('1000\n');
    agtOk(session.repository, 'autocommit', '--session-id', 's1');
    const after = snapshotTree(session, 'agtsessions/s1');
    expect([after.get('sandbox/bad'), after.get('sandbox/d/new')]).toEqual([
      '100644 changed\n',
      '100644 new\n',
    ]);
  });
});

describe('a failed write leaves the old snapshot or the new one, and nothing else', () => {
  test.for(
    ofToday([
      ['the lock', 'link', 1],
      ['the pack', 'fsync', 1],
      ['its index', 'fsync', 2],
      ['the refs', 'fsync', 3],
      ['the name of the first ref', 'rename', 1],
      ['the name of the second', 'rename', 2],
    ] as const),
  )('%s', ([, call, n], { skip }) => {
    skip(!straceWorks, NO_STRACE);
    const session = changed();
    const before = tip(session);
    const outcome = failing(session, [`${call}:error=EIO:when=${n}`], undefined);
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toMatch(/^error: .*(i\/o error|Input\/output error|couldn't)/);
    expect(outcome.stderr).not.toContain('internal');
    expect(leftovers(session)).toEqual([]);
    agtOk(session.repository, 'autocommit', '--session-id', 's1');
    expect(snapshotTree(session, 'agtsessions/s1').get('sandbox/good')).toBe('100644 changed\n');
    git(session.repository, 'merge-base', '--is-ancestor', before, 'agtsessions/s1');
    expect(git(session.repository, 'fsck', '--strict', '--no-dangling')).toBe('');
  });
});

describe('a note for the next autocommit that cannot be written costs a warning', () => {
  test.for(
    ofToday([
      ['the stat cache', 'scan/s1'],
      ['the known refs', 'refs/s1'],
      ['the timestamp', 'timestamps/s1'],
    ] as const),
  )('%s', ([what, path], { skip }) => {
    skip(!straceWorks, NO_STRACE);
    const session = changed();
    const outcome = failing(
      session,
      ['write:error=EIO'],
      join(session.repository, '.git/agt', `${path}.tmp`),
    );
    expect(outcome.exitCode).toBe(0);
    const file = join(session.repository, '.git/agt', path);
    expect(outcome.stderr).toBe(
      `warning: s1: captured, but ${what} could not be written: write ${file}: i/o error\n`,
    );
    expect(snapshotTree(session, 'agtsessions/s1').get('sandbox/good')).toBe('100644 changed\n');
    expect(leftovers(session)).toEqual([]);
    const next = run(AGT, ['autocommit', '--session-id', 's1'], { cwd: session.repository });
    expect(next).toMatchObject({ exitCode: 0, stdout: 's1: nothing changed\n', stderr: '' });
    expect(Number(readFileSync(join(session.repository, '.git/agt/timestamps/s1'), 'utf8'))).toBeGreaterThan(
      1000,
    );
  });
});

test.for(
  ofToday([
    ['a directory is made', 'mkdir', 1, /^warning: d.* was not restored: .*: i\/o error/m],
    ['a file is renamed', 'rename', 5, /^warning: bad was not restored: .*: i\/o error/m],
    ['its result is recorded', 'rename', 12, /^error: .*: i\/o error/m],
  ] as const),
)('a restore that fails while %s succeeds the next time', ([, call, n, message], { skip }) => {
  skip(!straceWorks, NO_STRACE);
  const session = changed();
  const before = tip(session);
  rmSync(join(session.sandbox, 'd'), { recursive: true });
  const command = ['session', 'restore', 's1', '--to', before];
  const outcome = failing(session, [`${call}:error=EIO:when=${n}`], undefined, command);
  expect(outcome.stderr).toMatch(message);
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stdout).not.toContain('verified');
  git(session.repository, 'merge-base', '--is-ancestor', before, 'agtsessions/s1');
  const states = git(session.repository, 'rev-list', '--first-parent', `${before}..agtsessions/s1`).split(
    '\n',
  );
  expect(states.map((state) => git(session.repository, 'show', `${state}:sandbox/bad`))).toContain('changed');
  expect(agtOk(session.repository, ...command)).toContain('verified');
  expect(readFileSync(join(session.sandbox, 'd/one'), 'utf8')).toBe('one\n');
  expect(agtOk(session.repository, 'doctor')).toContain('nothing is wrong');
});

test.for(ofToday(['refs/heads/team', 'logs/refs/heads', 'worktrees']))(
  'agt gc deletes nothing if .git/%s cannot be listed',
  (path, { skip }) => {
    skip(!straceWorks, NO_STRACE);
    const session = changed();
    const { repository } = session;
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'kept by one name');
    git(repository, 'branch', 'team/only');
    const kept = git(repository, 'rev-parse', 'HEAD');
    git(repository, 'reset', '-q', '--hard', 'HEAD^');
    write(join(session.sandbox, 'staged'), 'staged\n');
    git(session.sandbox, 'add', 'staged');
    const everything = git(repository, 'cat-file', '--batch-all-objects', '--batch-check');
    const command = ['gc', '--prune=now'];
    const outcome = failing(session, ['getdents64:error=EIO'], join(repository, '.git', path), command);
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toMatch(
      new RegExp(`^error: cannot read .*${path} \\(EIO\\)\nhint: agt deleted no objects`),
    );
    expect(git(repository, 'cat-file', '--batch-all-objects', '--batch-check')).toBe(everything);
    agtOk(repository, ...command);
    expect(git(repository, 'cat-file', '-t', kept)).toBe('commit');
  },
);

test('agt makes no session if it cannot read .worktreeinclude', ({ skip }) => {
  skip(!straceWorks, NO_STRACE);
  const session = changed();
  const path = join(session.repository, '.worktreeinclude');
  write(path, '.env\n');
  const outcome = failing(session, ['openat:error=EIO'], path, ['session', 'new', '--id', 's2']);
  expect(outcome).toEqual({ exitCode: 1, stdout: '', stderr: `error: open ${path}: i/o error\n` });
  expect(agtOk(session.repository, 'session', 'list')).not.toContain('s2');
  expect(agtOk(session.repository, 'doctor')).toContain('nothing is wrong');
});
