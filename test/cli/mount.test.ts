/** `agt session mount` and `umount`: a snapshot as a folder, for every program to read and for none to change. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { autocommit, makeSession, snapshotFolder, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, run, write } from '../harness/world.ts';

import {
  expectNothingLeft,
  fill,
  LARGE,
  type Mount,
  mount,
  mounted,
  mountProblem,
  outputOf,
  umount,
} from './mounted.ts';

describe.skipIf(mountProblem !== undefined)(
  `as root${mountProblem === undefined ? '' : ` (${mountProblem})`}`,
  () => {
    let session: TestSession;

    beforeAll(() => {
      session = makeSession({ 'README.md': 'hello\n', 'src/a.c': 'int a;\n' });
      fill(session);
    });

    afterAll(() => {
      agt(session.repository, 'session', 'umount', '--all', '--lazy');
    });

    test('a mounted snapshot has what the session folder had', () => {
      const { repository, folder, sandbox } = session;
      const { directory, way, commit, state } = mount(session);
      expect([way, state]).toEqual(['files', 'serving']);
      expect(directory).toBe(`${repository}.agt/mounts/s1@${commit.slice(0, 10)}`);
      expect(snapshotFolder(directory)).toEqual(snapshotFolder(folder));
      expect(readdirSync(directory).sort()).toEqual(['.agtignore', 'config', 'sandbox', 'xdg']);
      expect(readFileSync(join(directory, '.agtignore'), 'utf8')).toBe('sandbox/ignored\n');

      const time = Number(git(repository, 'log', '-1', '--format=%ct', commit));
      expect(statSync(join(directory, 'sandbox/key')).mtimeMs).toBe(time * 1000);
      expect(statSync(join(directory, 'sandbox/large')).size).toBe(LARGE.length);
      const large = openSync(join(directory, 'sandbox/large'), 'r');
      const end = Buffer.alloc(1000);
      readSync(large, end, 0, 1000, LARGE.length - 1000);
      closeSync(large);
      expect(end.equals(LARGE.subarray(-1000))).toBe(true);

      for (const change of [
        () => writeFileSync(join(directory, 'sandbox/new'), ''),
        () => writeFileSync(join(directory, 'sandbox/key'), ''),
        () => rmSync(join(directory, 'sandbox/key')),
        () => renameSync(join(directory, 'sandbox/key'), join(directory, 'sandbox/other')),
        () => chmodSync(join(directory, 'sandbox/key'), 0o777),
      ])
        expect(change).toThrow(/EROFS|Read-only file system/);

      expect(autocommit(session).outcome).toBe('unchanged');
      expect(git(sandbox, 'status', '--porcelain', '--', 'README.md', 'src')).toBe('');
      umount(session);
      expectNothingLeft(repository);
    });

    test('find, grep, cp, diff and git read it, several at once', async () => {
      const { directory } = mount(session);
      const sandbox = join(directory, 'sandbox');
      const script = `find ${sandbox} -size +1 | wc -l; grep -rc "content 4" ${sandbox}/many | grep -c :1`;
      const readers = Array.from({ length: 4 }, () => spawn('sh', ['-c', script]));
      const outputs = await Promise.all(readers.map(outputOf));
      expect(new Set(outputs).size).toBe(1);
      expect(outputs[0]).toMatch(/^1\n111\n$/);

      const copy = makeTempDir('copied');
      execFileSync('cp', ['-a', sandbox, copy]);
      expect(snapshotFolder(copy, ['sandbox'])).toEqual(snapshotFolder(directory, ['sandbox']));
      write(join(copy, 'sandbox/src/a.c'), 'int b;\n');
      expect(spawnSync('diff', ['-rq', '--no-dereference', sandbox, join(copy, 'sandbox')]).status).toBe(1);
      const args = ['diff', '--no-index', '--stat', sandbox, join(copy, 'sandbox')];
      expect(run('git', args, { cwd: copy }).stdout).toContain('1 file changed');
      cpSync(join(sandbox, 'many'), join(copy, 'again'), { recursive: true });
      umount(session);
    });

    test('mounts are listed, found again, and unmounted by id, by directory and all together', () => {
      const { repository } = session;
      const first = mount(session);
      expect(mount(session).directory).toBe(first.directory);
      const at = join(makeTempDir('at'), 'new');
      expect(mount(session, at)).toMatchObject({ directory: at, way: 'files' });
      const empty = makeTempDir('empty');
      agtOk(repository, 'session', 'mount', 's1', '--to', '@{0}', empty);
      expect(mounted(repository).map(({ directory, state }) => [directory, state])).toEqual([
        [first.directory, 'serving'],
        [at, 'serving'],
        [empty, 'serving'],
      ]);
      expect(agtOk(repository, 'session', 'mount')).toContain(`${at}`);
      expect(agtOk(repository, 'session', 'umount', at, '-n')).toBe(`would unmount ${at}`);
      agtOk('/', 'session', 'umount', at); // of another repository
      expect(existsSync(join(empty, 'sandbox'))).toBe(true);
      agtOk(repository, 'session', 'umount', '--all');
      expect(mounted(repository)).toEqual([]);
      expect([existsSync(empty), existsSync(at)]).toEqual([true, false]);
      expectNothingLeft(repository);
    });

    test('each of several at once gets a directory of its own; of those for one directory, the first', async () => {
      const { repository } = session;
      const all = async (...words: string[]) => {
        const args = ['session', 'mount', 's1', '--to', '@{0}', ...words];
        const agts = Array.from({ length: 4 }, () => spawn(AGT, args, { cwd: repository }));
        return (await Promise.all(agts.map(outputOf))).map((output) => output.trim());
      };
      const directories = await all();
      for (const directory of directories) expect(existsSync(join(directory, 'sandbox/key'))).toBe(true);
      const known = mounted(repository).map(({ directory, state }) => [directory, state]);
      expect(known.sort()).toEqual([...new Set(directories)].sort().map((one) => [one, 'serving']));
      const at = join(makeTempDir('at-once'), 'new');
      expect((await all(at)).filter((output) => output !== '')).toEqual([at]);
      umount(session);
      expectNothingLeft(repository);
    });

    test.each<[string, RegExp, (repository: string) => string[]]>([
      ['no snapshot', /no snapshot given\nhint: .* agt session log s1\n/, () => ['s1']],
      ['an unknown snapshot', /no snapshot "x"/, () => ['s1', '--to', 'x']],
      ['a file', /is no directory/, (repository) => ['s1', '--to', '@', join(repository, 'README.md')]],
      ['a full directory', /is not empty/, (repository) => ['s1', '--to', '@', join(repository, 'src')]],
      [
        'a directory that agt captures',
        /agt would capture its files with session "s1"/,
        (repository) => ['s1', '--to', '@', `${repository}.agt/sessions/s1/sandbox/inside`],
      ],
      [
        'the git directory',
        /in the git directory/,
        (repository) => ['s1', '--to', '@', `${repository}/.git/x`],
      ],
    ])('%s is refused, and nothing changes', (_, message, words) => {
      const { repository } = session;
      const outcome = agt(repository, 'session', 'mount', ...words(repository));
      expect(outcome.stderr).toMatch(message);
      expect(outcome.stderr).toMatch(/hint: /);
      expect(outcome.exitCode).toBeGreaterThan(0);
      expectNothingLeft(repository);
    });

    test('nothing to unmount is an error', () => {
      const { repository } = session;
      expect(agt(repository, 'session', 'umount', 's1').stderr).toMatch(/no snapshot is mounted at "s1"/);
      expect(agt(repository, 'session', 'umount').exitCode).toBe(2);
      expect(agtOk(repository, 'session', 'umount', '--all', '--json')).toBe('[]');
    });
  },
);

test('a copy is read-only, and its end keeps what somebody has put into it', () => {
  const session = makeSession();
  fill(session);
  const { repository, folder } = session;
  const { directory, way, reason } = mount(session, '--copy');
  expect([way, reason]).toEqual(['copy', null]);
  const withoutWrite = [...snapshotFolder(folder)].map(([path, text]) => [
    path,
    text.replace(/^(file|directory) (\d+)/, (_, kind: string, bits: string) => {
      return `${kind} ${(Number.parseInt(bits, 8) & ~0o222).toString(8)}`;
    }),
  ]);
  expect([...snapshotFolder(directory)]).toEqual(withoutWrite);
  const { mtimeMs } = statSync(join(directory, 'sandbox/key'));
  expect(mtimeMs).toBe(Number(git(repository, 'log', '-1', '--format=%ct', 'agtsessions/s1')) * 1000);

  chmodSync(join(directory, 'sandbox'), 0o755);
  write(join(directory, 'sandbox/mine'), 'mine\n');
  const refused = agt(repository, 'session', 'umount', 's1');
  expect(refused.stderr).toMatch(/has files that are not of the snapshot/);
  expect(refused.stderr).toContain('sandbox/mine');
  expect(readFileSync(join(directory, 'sandbox/mine'), 'utf8')).toBe('mine\n');
  const [, ...hinted] = /agt (session umount --force) (\S+)$/m.exec(refused.stderr) ?? [];
  expect(hinted).toEqual(['session umount --force', directory]);
  agtOk(repository, 'session', 'umount', '--force', directory);
  expectNothingLeft(repository);
});

test('a snapshot of a folder that is in no session is mounted where only the user gets to', () => {
  const folder = makeTempDir('plain');
  write(join(folder, 'a'), 'a\n');
  agtOk(folder, 'snapshot');
  for (const words of [[], ['--copy']]) {
    if (words.length > 0) git(folder, 'init', '-q'); // its snapshots stay in the store
    const directory = agtOk(folder, 'session', 'mount', '--to', '@{0}', ...words);
    expect(readFileSync(join(directory, 'sandbox/a'), 'utf8')).toBe('a\n');
    const points = join(directory, '..');
    expect(points).toMatch(/\/agt\/folders\/plain[^/]*\.agt\/mounts$/);
    expect(statSync(join(points, '../..')).mode & 0o777).toBe(0o700);
    expect(mounted(folder).map((one) => one.directory)).toEqual([directory]);
    agtOk(folder, 'session', 'umount', directory);
    expect(existsSync(join(points, '..'))).toBe(false);
  }
  expect(agtOk(folder, 'snapshot', 'list', '--json')).toContain('"@{0}"');
});

const notRoot = process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status === 0;

test.skipIf(!notRoot)('without root, agt writes a copy, and says why', () => {
  const session = makeSession();
  autocommit(session);
  const { repository } = session;
  const home = join(repository, '..');
  chmodSync(join(home, '..'), 0o755);
  chmodSync(home, 0o755);
  execFileSync('chown', ['-R', '65534:65534', home]);
  const as = ['--reuid=65534', '--regid=65534', '--clear-groups', AGT, 'session'];
  const env = { HOME: home };
  const outcome = run('setpriv', [...as, 'mount', 's1', '--to', '@', '--json'], { cwd: repository, env });
  expect(outcome.stderr).toBe('');
  const found = JSON.parse(outcome.stdout) as Mount;
  expect(found).toMatchObject({ way: 'copy', reason: 'only root can mount a file system' });
  expect(readFileSync(join(found.directory, 'sandbox/README.md'), 'utf8')).toBe('hello\n');
  expect(run('setpriv', [...as, 'umount', 's1'], { cwd: repository, env }).exitCode).toBe(0);
  expect(existsSync(found.directory)).toBe(false);
});

test('a single word is the directory if it is a path, or if --session names the session', () => {
  const session = makeSession({ a: 'a\n' });
  autocommit(session);
  const directory = (cwd: string, ...words: string[]) =>
    agtOk(cwd, 'session', 'mount', '--to', '@', '--copy', ...words);
  const at = makeTempDir('word');
  expect(directory(session.sandbox, join(at, 'one'))).toBe(join(at, 'one'));
  expect(directory(session.repository, '--session', 's1', join(at, 'three'))).toBe(join(at, 'three'));
  expect(directory(at, '-C', session.repository, '--session', 's1', 'four')).toBe(
    join(session.repository, 'four'),
  );
  for (const words of [['five'], [join(at, 'five'), 's1']])
    expect(agt(session.sandbox, 'session', 'mount', '--to', '@', ...words).stderr).toContain(
      'hint: put the id first: agt session mount ID DIRECTORY --to SNAPSHOT\n',
    );
  expect(readdirSync(at).sort()).toEqual(['one', 'three']);
  const all = ['session', 'umount', '--all'];
  expect(agtOk(session.repository, ...all).split('\n')).toHaveLength(3);
  expect(agtOk(session.repository, ...all)).toBe('nothing is mounted');
  expect(agtOk(session.repository, ...all, '--quiet')).toBe('');
  expect(agtOk(session.repository, ...all, '--json')).toBe('[]');
});
