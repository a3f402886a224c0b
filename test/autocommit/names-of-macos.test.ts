/** Names that differ in case or Unicode form alone. On Linux they are two files; on a Mac they are one. */
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { makeSession, sessionIn, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepositoryAt, REAL_GIT, run, write } from '../harness/world.ts';
import { mountZfs, NAMES_OF_MACOS, zfsProblem } from '../harness/zfs.ts';

const WHY = 'this disk takes its name for that of another file there';
const [NFC, NFD] = ['\u00e9', 'e\u0301'];

function capture({ repository, id }: TestSession): string[] {
  agtOk(repository, 'autocommit', '--session-id', id);
  const names = git(repository, 'ls-tree', '-rz', '--name-only', `agtsessions/${id}`);
  const paths = Buffer.from(names, 'latin1').toString().split('\0');
  return paths.flatMap((path) => (path.startsWith('sandbox/') ? path.slice('sandbox/'.length) : []));
}

const onDisk = ({ sandbox }: TestSession) => readdirSync(sandbox).filter((name) => name !== '.git');

function step({ repository }: TestSession, ...words: string[]): void {
  agtOk(repository, 'session', words[0] as string, 's1', ...words.slice(1));
}

test('two files are two, although git is told that case does not count', () => {
  const session = makeSession({ README: '1\n' });
  git(session.repository, 'config', 'core.ignoreCase', 'true');
  git(session.repository, 'config', 'core.precomposeUnicode', 'true');
  const names = ['README', NFD, 'readme', NFC];
  for (const name of names) write(join(session.sandbox, name), `${name}\n`);
  expect(capture(session).sort()).toEqual(names.toSorted());
  for (const name of names) rmSync(join(session.sandbox, name));
  expect(capture(session)).toEqual([]);
  step(session, 'undo');
  for (const name of names) expect(readFileSync(join(session.sandbox, name), 'utf8')).toBe(`${name}\n`);
});

const problem = zfsProblem();

describe.skipIf(problem !== undefined)(
  `on a disk with names as on a Mac${problem ? `: ${problem}` : ''}`,
  () => {
    const disk = problem === undefined ? mountZfs(NAMES_OF_MACOS) : undefined;
    afterAll(() => disk?.unmount());

    let count = 0;
    const makeSessionThere = (): TestSession => {
      const repository = makeRepositoryAt(join(disk?.path ?? '', `p${count++}`), {
        README: '1\n',
        'd/f': '1\n',
      });
      return sessionIn(repository);
    };
    /** The kernel does nothing to rename a file to another of its names. */
    const rename = ({ sandbox }: TestSession, from: string, to: string) => {
      renameSync(join(sandbox, from), join(sandbox, 'between'));
      renameSync(join(sandbox, 'between'), join(sandbox, to));
    };

    test('a rename that changes case or form alone is captured, undone, redone and forked', () => {
      const session = makeSessionThere();
      rename(session, 'README', 'readme');
      rename(session, 'd', 'D');
      write(join(session.sandbox, NFD), 'e\n');
      expect(capture(session)).toEqual(['D/f', NFD, 'readme']);
      rename(session, NFD, NFC);
      write(join(session.sandbox, 'readme'), '2\n');
      expect(capture(session)).toEqual(['D/f', 'readme', NFC]);
      step(session, 'undo');
      expect(onDisk(session).sort()).toEqual(['D', NFD, 'readme']);
      expect(readFileSync(join(session.sandbox, 'readme'), 'utf8')).toBe('1\n');
      step(session, 'redo');
      expect(onDisk(session).sort()).toEqual(['D', 'readme', NFC]);
      step(session, 'fork', '--id', 's2');
      expect(onDisk({ ...session, sandbox: session.sandbox.replace('/s1/', '/s2/') }).sort()).toEqual([
        'D',
        'readme',
        NFC,
      ]);
    });

    test('accept takes the new content under the old name, as git does', () => {
      const session = makeSessionThere();
      rename(session, 'README', 'readme');
      write(join(session.sandbox, 'readme'), '2\n');
      expect(capture(session)).toContain('readme');
      agtOk(session.repository, 'accept', 's1');
      expect(readdirSync(session.repository)).toContain('README');
      expect(readFileSync(join(session.repository, 'README'), 'utf8')).toBe('2\n');
      agtOk(session.repository, 'undo', 's1');
      expect(agtOk(session.repository, 'doctor')).toContain('nothing is wrong');
    });

    test('one name after the other: each snapshot has its own, and brings it back', () => {
      const session = makeSessionThere();
      write(join(session.sandbox, 'A'), 'large\n');
      expect(capture(session)).toEqual(['A', 'README', 'd/f']);
      rmSync(join(session.sandbox, 'A'));
      write(join(session.sandbox, 'a'), 'small\n');
      expect(capture(session)).toEqual(['README', 'a', 'd/f']);
      step(session, 'restore', '--to', '@{1}');
      expect(readFileSync(join(session.sandbox, 'A'), 'utf8')).toBe('large\n');
      expect(onDisk(session)).toContain('A');
      step(session, 'undo');
      expect(onDisk(session)).toContain('a');
      expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('small\n');
    });

    test('a path alone, whose file is there by another name: it is not replaced, and agt says so', () => {
      const session = makeSessionThere();
      write(join(session.sandbox, 'A'), 'large\n');
      capture(session);
      rmSync(join(session.sandbox, 'A'));
      write(join(session.sandbox, 'a'), 'small\n');
      capture(session);
      const { exitCode, stderr } = agt(session.sandbox, 'session', 'restore', '--to', '@{1}', '--path', 'A');
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`A was not restored: ${WHY}`)]);
      expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('small\n');
    });

    test('a snapshot that has both names, from another disk: agt names what it cannot restore', () => {
      const session = makeSessionThere();
      const { repository, sandbox } = session;
      write(join(sandbox, 'A'), 'large\n');
      capture(session);
      const index = { cwd: repository, env: { GIT_INDEX_FILE: join(repository, '.git/both') } };
      const change = (...args: string[]) =>
        run(REAL_GIT, ['-c', 'core.ignoreCase=false', ...args], index).stdout.trim();
      change('read-tree', 'agtsessions/s1');
      change(
        'update-index',
        '--add',
        '--cacheinfo',
        `100644,${git(repository, 'rev-parse', 'HEAD:README')},sandbox/a`,
      );
      const message = git(repository, 'log', '-1', '--format=%B', 'agtsessions/s1');
      const both = git(
        repository,
        'commit-tree',
        '-p',
        'agtsessions/s1',
        '-m',
        message,
        change('write-tree'),
      );
      for (const ref of ['refs/heads/agtsessions/s1', 'refs/agt/tip/s1'])
        git(repository, 'update-ref', ref, both);
      const { exitCode, stderr } = agt(repository, 'session', 'restore', 's1', '--to', both);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`a was not restored: ${WHY}`)]);
      expect(readFileSync(join(sandbox, 'A'), 'utf8')).toBe('large\n');
    });
  },
);
