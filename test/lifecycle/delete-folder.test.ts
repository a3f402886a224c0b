/** A removal deletes only what is in a snapshot, unless the user says --force. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { agtWithPermissions, permissionsProblem } from '../harness/privileges.ts';
import { makeSession, snapshotTree, type TestSession, tryAutocommit } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, run, write } from '../harness/world.ts';

const writers: ChildProcess[] = [];
afterEach(() => {
  for (const writer of writers.splice(0)) writer.kill('SIGKILL');
});

function remove({ repository, id }: TestSession, ...options: string[]) {
  return agt(repository, 'session', 'remove', id, ...options);
}

describe('beside sandbox/, xdg/ and config/', () => {
  test('an autocommit names what it does not capture', () => {
    const session = makeSession();
    write(join(session.folder, 'notes.txt'), 'mine\n');
    const outcome = tryAutocommit(session);
    expect(outcome.stderr).toBe(
      'warning: s1: not captured: notes.txt: lies beside sandbox/, xdg/ and config/\n',
    );
    expect(outcome.exitCode).toBe(0);
  });

  test("a removal refuses to delete an agent's own worktree without --force", () => {
    const session = makeSession();
    git(session.sandbox, 'worktree', 'add', '-q', '../feature');
    const work = join(session.folder, 'feature/work.txt');
    write(work, 'mine\n');
    const outcome = remove(session);
    expect(outcome.stderr).toContain('hint: feature: lies beside sandbox/, xdg/ and config/\n');
    expect(outcome.exitCode).toBe(1);
    expect(readFileSync(work, 'utf8')).toBe('mine\n');
    expect(existsSync(join(session.sandbox, '.git'))).toBe(true);
    const forced = remove(session, '--force');
    expect(forced.exitCode).toBe(0);
    expect(forced.stdout).toContain('deleted with it, in no snapshot: feature\n');
    expect(existsSync(session.folder)).toBe(false);
  });

  test('.agtignore can say that something may go', () => {
    const session = makeSession();
    write(join(session.folder, '.agtignore'), 'logs/\n');
    write(join(session.folder, 'logs/today'), 'noise\n');
    expect(tryAutocommit(session).stderr).toBe('');
    expect(remove(session).exitCode).toBe(0);
    expect(existsSync(session.folder)).toBe(false);
  });

  test('doctor deletes nothing that a killed removal left there', () => {
    const session = makeSession();
    const record = join(session.repository, '.git/agt/sessions/s1.json');
    const text = JSON.parse(readFileSync(record, 'utf8'));
    write(record, JSON.stringify({ ...text, state: 'removing', intent: { operation: 'remove' } }));
    write(join(session.folder, 'notes.txt'), 'mine\n');
    expect(agt(session.repository, 'doctor', '--fix').stdout).toContain('not captured: notes.txt');
    expect(readFileSync(join(session.folder, 'notes.txt'), 'utf8')).toBe('mine\n');
  });
});

/** Writes one new file after the other, and notes each that is complete. */
const WRITER = `
  i=0
  while i=$((i + 1)); do
    echo "$2 $i" > "$1/$2-$i" 2>/dev/null && echo "$2-$i" >> "$3"
  done`;

describe('while an agent writes', () => {
  test.each([
    ['by absolute paths', true],
    ['in its current directory', false],
  ])('a removal loses no file that is written %s', async (_, absolute) => {
    const files = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`file-${i}`, `${i}\n`]));
    const session = makeSession(files);
    const log = join(makeTempDir('log'), 'written');
    const [cwd, target] = absolute ? ['/', session.sandbox] : [session.sandbox, '.'];
    write(log, '');
    writers.push(spawn('sh', ['-c', WRITER, 'sh', target, 'new', log], { cwd, stdio: 'ignore' }));
    while (readFileSync(log, 'utf8').split('\n').length < 5) await new Promise((done) => setTimeout(done, 5));
    const outcome = remove(session);
    for (const writer of writers) writer.kill('SIGKILL');
    const written = readFileSync(log, 'utf8').split('\n').slice(0, -1);
    const kept = snapshotTree(session, 'agtsessions/s1');
    const isSomewhere = (name: string) =>
      kept.get(`sandbox/${name}`) === `100644 new ${name.slice(4)}\n` ||
      existsSync(join(session.sandbox, name));
    expect(written.filter((name) => !isSomewhere(name))).toEqual([]);
    const left = written.filter((name) => existsSync(join(session.sandbox, name)));
    expect(outcome.exitCode).toBe(left.length === 0 ? 0 : 1);
    if (left.length > 0)
      expect(outcome.stderr).toMatch(/^error: session "s1" is removed, but \d+ files? came/);
  });
});

describe('what is mounted in a session folder', () => {
  /** Runs a script with a directory mounted at `sandbox/cache`, in a mount namespace of its own. */
  function withMount({ repository, sandbox }: TestSession, directory: string, ...args: string[]) {
    mkdirSync(join(sandbox, 'cache'), { recursive: true });
    const script = 'mount --bind "$1" "$2" || exit 77; shift 2; exec "$@"';
    const inside = ['-m', 'sh', '-c', script, 'sh', directory, join(sandbox, 'cache'), AGT, ...args];
    return run('unshare', inside, { cwd: repository });
  }

  test.each([[[]], [['--force']]])('is never deleted by session remove %s', (options) => {
    const session = makeSession();
    const cache = makeTempDir('cache');
    write(join(cache, 'precious'), 'mine\n');
    write(join(session.folder, '.agtignore'), 'sandbox/cache/\n');
    const outcome = withMount(session, cache, 'session', 'remove', 's1', ...options);
    const mounted = join(session.sandbox, 'cache');
    expect(outcome.stderr).toBe(
      `error: ${mounted} is a mount point; agt does not delete what is mounted there\n` +
        `hint: umount ${mounted}\nhint: then try again\n`,
    );
    expect(outcome.exitCode).toBe(1);
    expect(readFileSync(join(cache, 'precious'), 'utf8')).toBe('mine\n');
    expect(existsSync(join(session.sandbox, '.git'))).toBe(true);
    expect(remove(session).exitCode).toBe(0);
  });
});

test('a session that was moved away for its removal is found and removed by the next removal', () => {
  const session = makeSession();
  write(join(session.sandbox, 'work.txt'), 'mine\n');
  const record = join(session.repository, '.git/agt/sessions/s1.json');
  const text = JSON.parse(readFileSync(record, 'utf8'));
  const intent = { operation: 'remove', phase: 'moving' };
  write(record, JSON.stringify({ ...text, state: 'removing', intent }));
  renameSync(session.folder, join(dirname(session.folder), '.removing-s1'));
  agtOk(session.repository, 'session', 'remove', 's1');
  expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/work.txt')).toBe('mine');
  expect(existsSync(dirname(session.folder))).toBe(false);
});

test.skipIf(permissionsProblem() !== undefined || process.getuid?.() !== 0).each([
  ['session accept', ['session', 'accept', 's1'], 'accepted'],
  ['session remove', ['session', 'remove', 's1'], 'removed'],
  ['session remove --force', ['session', 'remove', 's1', '--force'], 'removed'],
])('%s ends the session and names a file that only its owner may delete', (_, command, state) => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'work'), 'work\n');
  write(join(sandbox, 'build/out'), 'of another user\n');
  chownSync(join(sandbox, 'build'), 12345, 12345);
  const outcome = agtWithPermissions(repository, ...command);
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stderr).toBe(
    'error: session "s1" is removed, but you may not delete 1 file\n' +
      `hint: their owner can delete them: sandbox/build/out\nhint: they are in ${join(sandbox, '..')}\n`,
  );
  expect(readdirSync(join(sandbox, '..'), { recursive: true }).sort()).toEqual([
    'sandbox',
    'sandbox/build',
    'sandbox/build/out',
  ]);
  expect(JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json')).state).toBe(state);
  rmSync(join(sandbox, 'build'), { recursive: true });
  agtOk(repository, 'undo', 's1');
  expect(readFileSync(join(sandbox, 'build/out'), 'utf8')).toBe('of another user\n');
});
