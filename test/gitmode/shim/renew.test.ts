/** After an upgrade, the next call that starts agt writes the scripts of the earlier agt anew. */
import {
  cpSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { AGT, git, makeRepository, makeTempDir, REAL_GIT, run } from '../../harness/world.ts';

const env = { AGT_GIT_PATH: undefined, PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}` };

/** A shim and a front as another version has written them, some time ago. */
function oldShim(directory = makeTempDir('shim')): string {
  run(AGT, ['shim', 'install', '--dir', directory], { cwd: '/', env });
  for (const name of ['git', 'agt']) {
    const path = join(directory, name);
    const text = readFileSync(path, 'utf8').replace(/Written by agt [\d.]+/, 'Written by agt 0.0.1');
    writeFileSync(path, `${text}# of old\n`);
    utimesSync(path, 1_700_000_000, 1_700_000_000);
  }
  return directory;
}

async function isRenewed(directory: string): Promise<void> {
  await vi.waitFor(
    () => {
      const texts = ['git', 'agt'].map((name) => readFileSync(join(directory, name), 'utf8'));
      expect(texts.filter((text) => text.includes('of old') || text.includes('by agt 0.0.1'))).toEqual([]);
    },
    { timeout: 20_000, interval: 50 },
  );
}

test('a git command through the shim', async () => {
  const directory = oldShim();
  const repository = makeRepository();
  git(repository, 'branch', 'agt/s1');
  const said = run(join(directory, 'git'), ['branch'], { cwd: repository, env });
  expect(said).toEqual({ exitCode: 0, stdout: '* main\n', stderr: '' });
  await isRenewed(directory);
  expect(readFileSync(join(directory, 'git'), 'utf8')).toContain(`\nagt_real='${REAL_GIT}'\n`);
});

test('an agent that starts, with the shim on its PATH; until then agt doctor names it', async () => {
  const directory = oldShim();
  const home = makeTempDir('home');
  const own = { ...env, HOME: home, PATH: `${directory}:${env.PATH}` };
  const repository = makeRepository();
  const { stdout } = run(AGT, ['doctor'], { cwd: repository, env: own });
  expect(stdout).toContain('the shim is that of another version of agt');
  const input = JSON.stringify({ hook_event_name: 'SessionStart', session_id: 'c1', cwd: repository });
  run(AGT, ['hook', 'claude-code'], { cwd: repository, env: own, input });
  await isRenewed(directory);
});

test('the shim starts what the agt on PATH leads to', () => {
  const versions = makeTempDir('versions');
  for (const version of ['1', '2']) cpSync(AGT, join(versions, version, 'agt'), { recursive: true });
  const link = (version: string) => {
    symlinkSync(join(versions, version, 'agt'), join(versions, 'new'));
    renameSync(join(versions, 'new'), join(versions, 'agt'));
  };
  link('1');
  const directory = makeTempDir('shim');
  const own = { ...env, PATH: `${versions}:${env.PATH}` };
  run(join(versions, 'agt'), ['shim', 'install', '--dir', directory], { cwd: '/', env: own });
  expect(readlinkSync(join(directory, '.agt/git'))).toBe(join(versions, 'agt'));
  link('2');
  run('rm', ['-r', join(versions, '1')], { cwd: '/' });
  const repository = makeRepository();
  git(repository, 'branch', 'agt/s1');
  const said = run(join(directory, 'git'), ['branch'], { cwd: repository, env: own });
  expect(said).toEqual({ exitCode: 0, stdout: '* main\n', stderr: '' });
});
