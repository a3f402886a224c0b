/** agt upgrade, against a web server on the loopback; and how an installation of each kind is upgraded. */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serve } from '../harness/web-server.ts';
import { AGT, makeTempDir, run, write } from '../harness/world.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
const SUM = 'a'.repeat(64);

async function releases(...files: string[]): Promise<string> {
  const directory = makeTempDir('releases');
  write(join(directory, 'SHA256SUMS'), files.map((file) => `${SUM}  ${file}\n`).join(''));
  return serve(directory);
}

const archive = (named: string) => `agt-${named}-${process.platform}-x64.tar.xz`;

function upgrade(downloads: string | undefined, ...words: string[]) {
  return run(AGT, ['upgrade', ...words], { cwd: '/', env: { AGT_DOWNLOADS: downloads } });
}

test.each([
  ['999.0.0', true],
  [version, false],
  ['0.0.1', false],
  [`${version}-rc.1`, false],
])('--check where the newest version is %s', async (latest, newer) => {
  const downloads = await releases('agt.rb', archive(latest));
  const text = newer
    ? `agt ${latest} is there, and this is ${version}: `
    : `agt ${version} is the newest version`;
  const said = upgrade(downloads, '--check');
  expect(said).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(text), stderr: '' });
  expect(said.stdout.split('\n')).toHaveLength(2);
  const { stdout } = upgrade(downloads, '--check', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ version, latest, newer, installation: 'source' });
});

test('--check without an answer: one error, exit code 1', async () => {
  const nothing = await releases(archive('1.0.0').replace(process.platform, 'plan9'));
  const cases = [
    [nothing, `${nothing}/SHA256SUMS names no agt for ${process.platform}`],
    [`${nothing}/elsewhere`, 'the server answers 404'],
    ['http://127.0.0.1:1', 'cannot ask for the newest version'],
    [undefined, 'knows no place of releases'],
  ] as const;
  for (const [downloads, message] of cases) {
    const said = upgrade(downloads, '--check');
    expect(said).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(message) });
  }
});

test('without --check: the command, and nothing is asked', () => {
  const said = upgrade('http://127.0.0.1:1');
  expect(said).toEqual({
    exitCode: 0,
    stdout: 'git pull && sh install.sh (in your clone of agt)\n',
    stderr: '',
  });
});

test.each([
  ['my programs', 'installer', "curl -fsSL https://x.invalid/install.sh | sh -s -- --prefix '"],
  ['lib/node_modules/@agt/linux-x64', 'npm', 'npm install --global agt@latest'],
  ['Cellar/agt/1.0.0', 'homebrew', 'brew upgrade agt'],
])('installed in %s: %s', (prefix, installation, command) => {
  const directory = join(makeTempDir(), prefix);
  write(join(directory, 'bin/agt'), '');
  write(join(directory, 'share/doc/agt/LICENSE'), '');
  copyFileSync(AGT, join(directory, 'bin/agt'));
  const env = { AGT_DOWNLOADS: 'https://x.invalid' };
  const { stdout } = run(join(directory, 'bin/agt'), ['upgrade', '--json'], { cwd: '/', env });
  expect(JSON.parse(stdout)).toMatchObject({ installation, command: expect.stringContaining(command) });
});
