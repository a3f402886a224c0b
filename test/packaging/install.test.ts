/** install.sh, from a web server on the loopback and from a directory, under dash, bash and busybox. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SHELLS } from '../harness/front.ts';
import { serve } from '../harness/web-server.ts';
import { makeTempDir, type Outcome, run } from '../harness/world.ts';

const INSTALLER = join(import.meta.dirname, '../../install.sh');
const VERSION = '1.2.3';
const SYSTEM = `${process.platform}-${process.arch}`;
const EXTRAS = [
  'share/man/man1/agt.1',
  'share/doc/agt/LICENSE',
  'share/doc/agt/THIRD-PARTY-LICENSES',
  'share/bash-completion/completions/agt',
  'share/zsh/site-functions/_agt',
  'share/fish/vendor_completions.d/agt.fish',
];
/** Stands for the executable, and notes how it was called. */
const AGT = `#!/bin/sh
case "$*" in
--version) echo 'agt ${VERSION}' ;;
"shim uninstall") rm -f "$HOME/shim" ;;
'hooks uninstall --all') [ ! -e "$HOME/unwritable" ] && rm -f "$HOME/hooked" ;;
*) exit 2 ;;
esac
`;

/** A directory with the archives of a release. */
function makeRelease(agt = AGT): string {
  const directory = makeTempDir('release');
  const folder = `agt-${VERSION}-${SYSTEM}`;
  const files = new Map([['bin/agt', agt], ...EXTRAS.map((path) => [path, `${path}\n`] as const)]);
  for (const [path, text] of files) {
    mkdirSync(dirname(join(directory, folder, path)), { recursive: true });
    writeFileSync(join(directory, folder, path), text, { mode: path === 'bin/agt' ? 0o755 : 0o644 });
  }
  const sums = [
    ['xz', '-J'],
    ['gz', '-z'],
  ].map(([kind, option]) => {
    const name = `${folder}.tar.${kind}`;
    execFileSync('tar', ['-c', `${option}f`, join(directory, name), '-C', directory, folder]);
    return `${createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(directory, 'SHA256SUMS'), sums.join(''));
  return directory;
}

interface Setting {
  readonly shell: readonly string[];
  readonly downloads: string;
  readonly home?: string;
  readonly path?: string;
}

function install(
  { shell, downloads, home = makeTempDir('home'), path }: Setting,
  ...words: string[]
): Outcome {
  const [program = '', ...first] = shell;
  const env = { HOME: home, AGT_DOWNLOADS: downloads, TMPDIR: home, ...(path && { PATH: path }) };
  return run(program, [...first, INSTALLER, ...words], { cwd: home, env });
}

const version = ['--version', VERSION];
const filesBelow = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(directory.length + 1))
    .sort();

describe.each(SHELLS)('$name', ({ interpreter }) => {
  const shell = interpreter.split(' ');

  test('installs from a web server, says what to put on PATH, and removes every file again', async () => {
    const downloads = await serve(makeRelease());
    const home = makeTempDir('home');
    const done = install({ shell, downloads, home }, ...version);
    expect(done).toMatchObject({ exitCode: 0, stderr: '' });
    expect(done.stdout).toContain(`export PATH="${home}/.local/bin:$PATH"`);
    expect(filesBelow(join(home, '.local'))).toEqual(['bin/agt', ...EXTRAS].sort());
    for (const left of ['hooked', 'shim']) writeFileSync(join(home, left), '');
    expect(install({ shell, downloads, home }, '--uninstall')).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect(['hooked', 'shim', '.local'].filter((left) => existsSync(join(home, left)))).toEqual([]);
  });

  test('installs nothing of an archive that the checksum does not fit', () => {
    const downloads = makeRelease();
    for (const kind of ['xz', 'gz'])
      writeFileSync(join(downloads, `agt-${VERSION}-${SYSTEM}.tar.${kind}`), 'other bytes');
    const home = makeTempDir('home');
    const done = install({ shell, downloads, home }, ...version);
    expect(done.exitCode).toBe(1);
    expect(done.stderr).toContain('is not what SHA256SUMS says');
    expect(filesBelow(home)).toEqual([]);
  });
});

test('in a clone it installs what the sources make', () => {
  const clone = join(makeTempDir(), 'my clone');
  const built = join(makeRelease(), `agt-${VERSION}-${SYSTEM}`);
  mkdirSync(join(clone, 'scripts'), { recursive: true });
  cpSync(INSTALLER, join(clone, 'install.sh'));
  const home = makeTempDir('home');
  const installed = (release: string) => {
    writeFileSync(join(clone, 'scripts/release'), `#!/bin/sh\n${release}\n`, { mode: 0o755 });
    const env = { HOME: home, AGT_DOWNLOADS: undefined, TMPDIR: home };
    return run('sh', ['my clone/install.sh'], { cwd: dirname(clone), env });
  };
  const failed = installed('echo "error: npm is needed to build agt"; exit 1');
  expect([failed.exitCode, filesBelow(home)]).toEqual([1, []]);
  expect(failed.stderr).toContain('error: cannot build agt: error: npm is needed to build agt\n');
  expect(installed(`[ "$1" = --unpacked ] && cp -R '${built}' "$2"`)).toMatchObject({
    exitCode: 0,
    stderr: '',
  });
  expect(filesBelow(join(home, '.local'))).toEqual(['bin/agt', ...EXTRAS].sort());
});

test('a version that there is not is named, and nothing is installed', async () => {
  const home = makeTempDir('home');
  const downloads = await serve(makeRelease());
  const done = install({ shell: ['sh'], downloads, home }, '--version', '9.9.9');
  expect(done.exitCode).toBe(1);
  expect(done.stderr).toContain('hint: is there such a version? --version V chooses another one');
  expect(filesBelow(home)).toEqual([]);
});

test('another prefix, with a space in its name; what is already there stays', () => {
  const prefix = join(makeTempDir('prefix'), 'my programs');
  mkdirSync(join(prefix, 'bin'), { recursive: true });
  writeFileSync(join(prefix, 'bin/other'), '');
  const setting = { shell: ['sh'], downloads: makeRelease() };
  expect(install(setting, ...version, '--prefix', prefix).exitCode).toBe(0);
  expect(install(setting, '--uninstall', `--prefix=${prefix}`).exitCode).toBe(0);
  expect(filesBelow(prefix)).toEqual(['bin/other']);
});

test('an agt that is installed already is replaced, also while it runs', () => {
  const home = makeTempDir('home');
  expect(install({ shell: ['sh'], downloads: makeRelease(), home }, ...version).exitCode).toBe(0);
  const newer = makeRelease(AGT.replace(`agt ${VERSION}`, 'agt newer'));
  const done = install({ shell: ['sh'], downloads: newer, home }, ...version);
  expect(done.stdout).toContain('Installed agt newer');
});

test('without xz, the other archive; without curl, wget', async () => {
  const tools = makeTempDir('tools');
  const names = 'sh uname mktemp rm grep sha256sum gzip tar mkdir cp mv git wget rmdir sed cat';
  for (const name of names.split(' '))
    writeFileSync(join(tools, name), `#!/bin/sh\nPATH=${process.env['PATH']} exec ${name} "$@"\n`, {
      mode: 0o755,
    });
  const done = install(
    { shell: ['/bin/sh'], downloads: await serve(makeRelease()), path: tools },
    ...version,
  );
  expect(done).toMatchObject({ exitCode: 0, stderr: '' });
});

test.each([
  [['--bogus'], 1, 'unknown option "--bogus"'],
  [['--uninstall'], 1, 'agt is not installed in'],
  [['--prefix'], 1, 'error: --prefix needs a value'],
])('%s is refused', (words, exitCode, message) => {
  const done = install({ shell: ['sh'], downloads: makeRelease() }, ...words);
  expect([done.exitCode, done.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
});

test('--help tells of the options alone', () => {
  const { stdout } = install({ shell: ['sh'], downloads: makeRelease() }, '--help');
  expect(stdout.split('\n')).toEqual([
    expect.stringContaining('--uninstall'),
    expect.any(String),
    expect.any(String),
    '',
  ]);
});

test.each([
  ['libatomic.so.1: cannot open shared object file', 'agt needs the library libatomic.so.1'],
  ['bad interpreter', 'agt does not start here'],
])('an executable that does not start takes no place of an older one: %s', (reason, message) => {
  const home = makeTempDir('home');
  expect(install({ shell: ['sh'], downloads: makeRelease(), home }, ...version).exitCode).toBe(0);
  const broken = makeRelease(`#!/bin/sh\necho '${reason}' >&2\nexit 127\n`);
  const done = install({ shell: ['sh'], downloads: broken, home }, ...version);
  expect([done.exitCode, done.stderr]).toEqual([1, expect.stringContaining(message)]);
  expect(run(join(home, '.local/bin/agt'), ['--version'], { cwd: home }).stdout).toBe(`agt ${VERSION}\n`);
  expect(readdirSync(join(home, '.local/bin'))).toEqual(['agt']);
});

test.each(['MINGW64_NT-10.0', 'MSYS_NT-10.0', 'CYGWIN_NT-10.0'])('on Windows (%s): one line', (system) => {
  const tools = makeTempDir('tools');
  writeFileSync(join(tools, 'uname'), `#!/bin/sh\necho ${system}\n`, { mode: 0o755 });
  const path = `${tools}:${process.env['PATH']}`;
  const done = install({ shell: ['sh'], downloads: makeRelease(), path }, ...version);
  expect(done).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: agt does not run on Windows yet, but it works in WSL: install it there\n',
  });
});

test('a prefix that is a file: one reason, and the file stays', () => {
  const prefix = join(makeTempDir('prefix'), 'file');
  writeFileSync(prefix, 'mine');
  const done = install({ shell: ['sh'], downloads: makeRelease() }, ...version, '--prefix', prefix);
  expect([done.exitCode, readFileSync(prefix, 'utf8')]).toEqual([1, 'mine']);
  expect(done.stderr).toContain(`error: cannot make ${prefix}/bin\n`);
});

test('agt stays if it cannot remove its hooks, and goes if it does not start', () => {
  const home = makeTempDir('home');
  const setting = { shell: ['sh'], downloads: makeRelease(), home };
  expect(install(setting, ...version).exitCode).toBe(0);
  writeFileSync(join(home, 'unwritable'), '');
  expect(install(setting, '--uninstall').exitCode).toBe(1);
  expect(existsSync(join(home, '.local/bin/agt'))).toBe(true);
  writeFileSync(join(home, '.local/bin/agt'), '#!/bin/sh\nexit 127\n');
  expect(install(setting, '--uninstall').exitCode).toBe(0);
  expect(existsSync(join(home, '.local/bin'))).toBe(false);
});
