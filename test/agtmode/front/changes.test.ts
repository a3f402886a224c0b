/** The front starts agt for everything that agt might capture, and for nothing else. */
import {
  accessSync,
  appendFileSync,
  chmodSync,
  constants,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Front } from '../../harness/front.ts';
import { makeSession, sessionIn, type TestSession } from '../../harness/session.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, run, write } from '../../harness/world.ts';

const front = new Front();
const FILES = { a: 'a\n', 'd/b': 'b\n', 'd/e/c': 'c\n', '.gitignore': 'ignored\n' };

/** Each change, one after the other, makes the front start agt, also from another directory of the session. */
function expectAllSeen(session: TestSession, changes: Readonly<Record<string, () => unknown>>): void {
  for (const [name, change] of Object.entries(changes)) {
    front.settle(session.sandbox);
    change();
    expect({ name, started: front.startsForTool(session.sandbox, 1) }).toEqual({ name, started: true });
  }
  front.settle(session.sandbox);
}

test('every change of a file, however it is made', () => {
  const session = makeSession(FILES);
  const { sandbox, folder } = session;
  const at = (path: string) => join(sandbox, path);
  const other = makeTempDir();
  write(join(other, 'old'), 'old');
  utimesSync(join(other, 'old'), 1, 1);
  const past = () => utimesSync(at('a'), 1, 1);
  expectAllSeen(session, {
    written: () => writeFileSync(at('a'), 'x\n'),
    'written with the old time': () => {
      writeFileSync(at('a'), 'y\n');
      past();
    },
    'the time alone set into the past': past,
    appended: () => appendFileSync(at('d/e/c'), 'more'),
    'new': () => writeFileSync(at('new'), ''),
    'new and ignored by git': () => writeFileSync(at('ignored'), ''),
    'moved here with an old time': () => renameSync(join(other, 'old'), at('d/old')),
    renamed: () => renameSync(at('new'), at('newer')),
    'replaced by an equal one': () => {
      writeFileSync(at('d/copy'), 'b\n');
      renameSync(at('d/copy'), at('d/b'));
    },
    deleted: () => unlinkSync(at('newer')),
    executable: () => chmodSync(at('a'), 0o755),
    'rights of a directory': () => chmodSync(at('d'), 0o700),
    'a link': () => symlinkSync('a', at('link')),
    'a hard link': () => linkSync(at('a'), at('hard')),
    'through a hard link elsewhere': () => {
      linkSync(at('a'), join(other, 'hard'));
      front.settle(sandbox);
      appendFileSync(join(other, 'hard'), 'z');
    },
    'an empty directory': () => mkdirSync(at('empty')),
    'an empty directory gone': () => rmdirSync(at('empty')),
    'a directory moved': () => renameSync(at('d/e'), at('e')),
    'hostile names': () => {
      mkdirSync(at("-print' *?[\\\n"));
      writeFileSync(at("-print' *?[\\\n/$(touch x)\t"), '');
    },
    'in a directory with a hostile name': () => writeFileSync(at("-print' *?[\\\n/$(touch x)\t"), 'x'),
    'in xdg': () => writeFileSync(join(folder, 'xdg/x'), ''),
    'in config': () => writeFileSync(join(folder, 'config/x'), ''),
    'xdg deleted': () => rmSync(join(folder, 'xdg'), { recursive: true }),
    'xdg made again': () => mkdirSync(join(folder, 'xdg')),
    '.agtignore': () => writeFileSync(join(folder, '.agtignore'), 'sandbox/cache\n'),
    'an ignored file (agt finds out that it is)': () => writeFileSync(at('cache'), ''),
    '.agtignore gone': () => unlinkSync(join(folder, '.agtignore')),
  });
  git(sandbox, 'init', '-q', 'nested');
  front.settle(sandbox);
  // agt says each time that it leaves out the git directory.
  expect(front.starts(sandbox)).toBe(true);
  git(join(sandbox, 'nested'), 'commit', '-q', '--allow-empty', '-m', 'not captured');
  expect(front.startsForTool(sandbox)).toBe(false);
  expect(front.startsForTool(join(sandbox, 'nested'))).toBe(false);
  writeFileSync(at('nested/x'), '');
  expect(front.startsForTool(sandbox)).toBe(true);
});

test('every change of the index, of HEAD and of the refs; an operation of git', () => {
  const session = makeSession(FILES);
  const { sandbox, repository } = session;
  const gitDir = git(sandbox, 'rev-parse', '--absolute-git-dir');
  expectAllSeen(session, {
    'git add': () => {
      writeFileSync(join(sandbox, 'staged'), '');
      front.settle(sandbox);
      git(sandbox, 'add', 'staged');
    },
    'git commit': () => git(sandbox, 'commit', '-qm', 'work'),
    'git commit --amend with the same files': () => git(sandbox, 'commit', '-q', '--amend', '-m', 'other'),
    'another branch': () => git(sandbox, 'checkout', '-q', '-b', 'other'),
    'the work branch elsewhere': () => git(repository, 'branch', '-f', 'agt/s1', 'main'),
    detached: () => git(sandbox, 'checkout', '-q', '--detach'),
    'a stash of git': () => {
      writeFileSync(join(sandbox, 'a'), 'stash');
      git(sandbox, 'stash', '-q');
    },
    'a merge that waits': () => {
      git(sandbox, 'checkout', '-q', '-b', 'one');
      writeFileSync(join(sandbox, 'a'), 'one');
      git(sandbox, 'commit', '-qam', 'one');
      git(sandbox, 'checkout', '-q', 'agt/s1');
      front.settle(sandbox);
      git(sandbox, 'merge', '-q', '--no-commit', '--no-ff', 'one');
    },
    'a message alone': () => appendFileSync(join(gitDir, 'MERGE_MSG'), 'x'),
    'the merge given up': () => git(sandbox, 'merge', '--abort'),
    'refs of the worktree': () => git(sandbox, 'update-ref', 'refs/worktree/x', 'HEAD'),
    'all refs packed': () => git(repository, 'pack-refs', '--all'),
    'a commit after that': () => git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'x'),
    'the branch packed again': () => git(repository, 'pack-refs', '--all'),
    'a shadow branch moved': () => git(repository, 'branch', '-f', 'agtsessions/s1', 'main'),
    'the shadow branch deleted': () => git(repository, 'branch', '-D', 'agtsessions/s1'),
    "agt's own ref deleted": () => git(repository, 'update-ref', '-d', 'refs/agt/tip/s1'),
    'an orphan branch': () => git(sandbox, 'checkout', '-q', '--orphan', 'none'),
  });
});

test('what agt does not capture starts no agt: a moved user branch, reflogs, other sessions', () => {
  const session = makeSession(FILES);
  const { sandbox, repository } = session;
  front.settle(sandbox);
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'of the user');
  git(repository, 'tag', 'v1');
  writeFileSync(join(repository, 'a'), 'of the user');
  // Otherwise git writes the index again if it is as young as its files.
  git(sandbox, '--no-optional-locks', 'status');
  git(sandbox, 'log', '-1');
  expect(front.starts(sandbox)).toBe(false);
  expect(JSON.parse(agtOk(sandbox, 'autocommit', '--json')).outcome).toBe('unchanged');
  const second = sessionIn(repository, 's2');
  writeFileSync(join(second.sandbox, 'a'), 'x');
  expect(front.starts(sandbox)).toBe(false);
  front.settle(second.sandbox);
  expect(front.starts(join(second.folder, 'xdg'))).toBe(false);
  expect(front.starts(second.folder)).toBe(false);
  mkdirSync(join(sandbox, 'deep/er'), { recursive: true });
  front.settle(sandbox);
  expect(front.starts(join(sandbox, 'deep/er'))).toBe(false);
});

test('in the checkout of the user', () => {
  const repository = makeRepository(FILES);
  agtOk(repository, 'session', 'new', '--id', 's1', '--working-copy', 'in-place');
  const folder = join(`${repository}.agt/sessions/s1`);
  const session = { repository, folder, sandbox: repository, id: 's1' };
  front.settle(repository);
  expect(front.starts(folder)).toBe(false);
  expect(front.starts(join(repository, 'd/e'))).toBe(false);
  expectAllSeen(session, {
    written: () => writeFileSync(join(repository, 'd/b'), 'x'),
    added: () => git(repository, 'add', '-A'),
    committed: () => git(repository, 'commit', '-qm', 'x'),
    xdg: () => write(join(folder, 'xdg/x'), ''),
    'the link to the checkout': () => {
      rmSync(join(folder, 'sandbox'));
      symlinkSync(repository, join(folder, 'sandbox'));
    },
    'another branch': () => git(repository, 'checkout', '-q', '-b', 'other'),
    packed: () => git(repository, 'gc', '-q'),
  });
  // A repository of its own is not the session's.
  git(repository, 'init', '-q', 'nested');
  front.settle(repository);
  expect(front.startsForTool(repository)).toBe(false);
  expect(front.startsForTool(join(repository, 'nested'))).toBe(true);
});

const mounts = makeTempDir('mount');
const mayMount = run('mount', ['--bind', mounts, mounts], { cwd: '/' }).exitCode === 0;
if (mayMount) run('umount', [mounts], { cwd: '/' });

test.skipIf(!mayMount)('a mount (needs root)', () => {
  const session = makeSession(FILES);
  const elsewhere = makeTempDir();
  write(join(elsewhere, 'b'), 'other');
  front.settle(session.sandbox);
  const mounted = join(session.sandbox, 'd');
  expect(run('mount', ['--bind', elsewhere, mounted], { cwd: '/' }).exitCode).toBe(0);
  try {
    expect(front.starts(session.sandbox)).toBe(true);
  } finally {
    run('umount', [mounted], { cwd: '/' });
  }
  expect(front.starts(session.sandbox)).toBe(false);
});

test('a process in the folder that writes through a memory map', () => {
  const session = makeSession(FILES);
  writeFileSync(join(session.sandbox, 'a'), 'not on disk yet');
  front.settle(session.sandbox);
  // An answer by the front lies between the two: the map alone is no change.
  const script = `
import mmap, subprocess, sys
def ask():
    sys.stdout.write(subprocess.run([sys.argv[1], 'autocommit'], capture_output=True, text=True).stdout)
f = open('a', 'r+b')
m = mmap.mmap(f.fileno(), 0)
ask()
m[0] = 88
ask()
subprocess.run([sys.argv[2], 'autocommit'])
ask()
`;
  const args = ['-u', '-c', script, front.script(), AGT];
  const { stdout, stderr } = run('python3', args, { cwd: session.sandbox });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^s1: nothing changed\nagt is started\ns1: captured .*\nagt is started\n$/);
  front.settle(session.sandbox);
});

const MEMORY = '/dev/shm';
test.skipIf(!isWritable(MEMORY))(
  'a process in a folder in memory that has mapped a file (needs /dev/shm)',
  () => {
    const repository = mkdtempSync(join(MEMORY, 'agt-test-'));
    try {
      git(MEMORY, 'clone', '-q', makeRepository(FILES), repository);
      const { sandbox } = sessionIn(repository, 's1');
      front.settle(sandbox);
      expect(front.starts(sandbox)).toBe(false);
      const script = `
import mmap, subprocess, sys
f = open('a', 'r+b')
m = mmap.mmap(f.fileno(), 0)
sys.stdout.write(subprocess.run([sys.argv[1], 'autocommit'], capture_output=True, text=True).stdout)
`;
      const { stdout, stderr } = run('python3', ['-c', script, front.script()], { cwd: sandbox });
      expect({ stdout, stderr }).toEqual({ stdout: 'agt is started\n', stderr: '' });
      expect(front.starts(sandbox)).toBe(false);
    } finally {
      for (const path of [repository, `${repository}.agt`]) rmSync(path, { recursive: true, force: true });
    }
  },
);

test('agt itself has changed something: metadata, settings, locks, a removal', () => {
  const session = makeSession(FILES);
  const { sandbox, repository, folder } = session;
  expectAllSeen(session, {
    'a restore': () => {
      writeFileSync(join(sandbox, 'a'), 'x');
      agtOk(sandbox, 'autocommit');
      agtOk(sandbox, 'session', 'undo');
    },
    'a setting of the repository': () => agtOk(repository, 'config', 'set', 'agt.maxFileSize', '1m'),
    'another one': () => agtOk(repository, 'config', 'set', 'agt.maxFileSize', '2m'),
    'a setting of the user': () => agtOk(repository, 'config', 'set', '--global', 'agt.retention', '9 days'),
    'settings of git': () => git(repository, 'config', 'core.x', 'y'),
  });
  rmSync(join(process.env['HOME'] ?? '', '.agtconfig'));
  front.settle(sandbox);
  const lock = join(repository, '.git/agt/locks/s1');
  write(lock, '');
  expect(front.starts(sandbox)).toBe(true);
  rmSync(lock);
  expect(front.starts(sandbox)).toBe(false);
  write(join(repository, '.git/agt/locks/.prune'), '');
  expect(front.starts(sandbox)).toBe(true);
  rmSync(join(repository, '.git/agt/locks/.prune'));
  const file = join(repository, '.git/agt/sessions/s1.json');
  const text = readFileSync(file);
  rmSync(file);
  expect(front.starts(sandbox)).toBe(true);
  writeFileSync(file, text);
  expect(front.starts(sandbox)).toBe(false);
  agtOk(repository, 'session', 'remove', 's1');
  mkdirSync(folder, { recursive: true });
  expect(front.starts(folder)).toBe(true);
});

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
