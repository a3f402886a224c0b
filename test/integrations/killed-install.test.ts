/** agt hooks install and uninstall, killed between their steps: the settings are the old ones or the new ones. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, makeTempDir, run, write } from '../harness/world.ts';

const bundle = join(import.meta.dirname, '../../dist/failure-points/main.cjs');
const SETTINGS = '{\n  // mine\n  "model": "opus"\n}\n';
const POINT = /^(hooks|settings|state file): /;

function content(home: string): string {
  const script =
    "find . -printf '%p %y %m\\n' | sort; find . -type f -print0 | sort -z | xargs -0r sha256sum";
  return spawnSync('sh', ['-c', script], { cwd: home, encoding: 'utf8' }).stdout;
}

test.each(['install', 'uninstall'])('hooks %s', (command) => {
  const start = makeTempDir('home');
  const file = '.claude/settings.json';
  write(join(start, file), SETTINGS);
  const before = content(start);
  const hooks = (home: string, ...args: string[]) =>
    run(AGT, ['hooks', ...args, 'claude-code'], { cwd: home, env: { HOME: home } });
  if (command === 'uninstall') hooks(start, 'install');
  const copy = () => {
    const home = makeTempDir('home');
    rmSync(home, { recursive: true });
    cpSync(start, home, { recursive: true });
    // The state of agt names the settings file.
    if (command === 'uninstall') {
      const state = join(home, '.local/state/agt/hooks/claude-code.json');
      write(state, readFileSync(state, 'utf8').replaceAll(start, home), 0o600);
    }
    return home;
  };
  const killed = (home: string, env: Record<string, string>) =>
    run(process.execPath, [bundle, 'hooks', command, 'claude-code'], {
      cwd: home,
      env: { HOME: home, ...env },
    });
  const list = join(makeTempDir(), 'points');
  const settingsOf = (home: string) => readFileSync(join(home, file), 'utf8');
  const whole = copy();
  expect(killed(whole, { AGT_TEST_LIST_POINTS: list }).exitCode).toBe(0);
  const states = [settingsOf(start), settingsOf(whole)];
  expect(states).toContain(SETTINGS);
  expect(states[0]).not.toBe(states[1]);
  const points = readFileSync(list, 'utf8')
    .split('\n')
    .filter((point) => POINT.test(point));
  expect(points.length).toBeGreaterThan(1);
  for (const point of points) {
    const home = copy();
    expect(killed(home, { AGT_TEST_KILL_AT: point }).exitCode).toBe(null);
    expect(states).toContain(settingsOf(home));
    expect(hooks(home, command).exitCode).toBe(0);
    expect(hooks(home, 'uninstall').exitCode).toBe(0);
    // A kill may leave empty directories of agt, which nothing names yet.
    expect(content(home).replace(/^\.\/\.local\S* d 700\n/gm, ''), point).toBe(before);
  }
});
