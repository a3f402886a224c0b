/** A shim that notes for which lines it starts the executable. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { once } from '../../../src/once.ts';
import { AGT, makeTempDir, REAL_GIT, run, write } from '../../harness/world.ts';
import { compareLine, compareLines, describeDifference, type Subject } from '../../twin/compare.ts';
import type { Twin } from '../../twin/shapes.ts';

/** Without the variables that make the shim start the executable for every line. */
export const env = {
  AGT_GIT_PATH: undefined,
  GIT_CONFIG_GLOBAL: undefined,
  GIT_CONFIG_NOSYSTEM: undefined,
  PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}`,
};

export const SHELLS = ['dash', 'bash', 'busybox'].flatMap((name) => {
  const path = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
  return path === '' ? [] : [{ name, interpreter: name === 'busybox' ? `${path} ash` : path }];
});

/** In place of the executable, this shim starts a script that notes the line, and then starts the executable. */
const dir = once(() => {
  const place = makeTempDir('shim');
  expect(run(AGT, ['shim', 'install', '--dir', place], { cwd: '/', env }).exitCode).toBe(0);
  const text = readFileSync(join(place, 'git'), 'utf8');
  for (const { name, interpreter } of SHELLS)
    write(join(place, name), text.replace('#!/bin/sh', `#!${interpreter}`), 0o755);
  mkdirSync(join(place, 'executable'));
  const [started, real] = [join(place, '.agt/git'), join(place, 'executable/git')];
  renameSync(started, real);
  write(started, `#!/bin/sh\nprintf '%s\\n' "$*" >>'${join(place, 'calls')}'\nexec '${real}' "$@"\n`, 0o755);
  utimesSync(started, 0, 0);
  return place;
});

export function notingShim(shell = 'git'): Subject {
  return { program: join(dir(), shell), env };
}

/** The lines for which the shim started the executable since this was asked last. */
function takeCalls(): string[] {
  const calls = join(dir(), 'calls');
  const text = existsSync(calls) ? readFileSync(calls, 'utf8') : '';
  rmSync(calls, { force: true });
  return text.split('\n').slice(0, -1);
}

/** Lets the executable leave the facts for the shim. */
export async function leaveFacts(twin: Twin): Promise<void> {
  for (const file of globSync('with/project/.git/{,worktrees/*/}agt-shim', { cwd: twin.root }))
    rmSync(join(twin.root, file));
  const past = new Date(Date.now() - 60_000);
  const compared = 'with/project/.git/{,worktrees/*/}{config,packed-refs,HEAD,gitdir}';
  for (const file of globSync(compared, { cwd: twin.root })) utimesSync(join(twin.root, file), past, past);
  await compareLine(twin, 'log -1', notingShim());
  takeCalls();
}

/** Compares the lines in the twin, and returns those for which the shim started the executable. */
export async function startedFor(
  twin: Twin,
  lines: readonly string[],
  subject = notingShim(),
): Promise<string[]> {
  const differences = await compareLines(twin, lines, subject);
  expect(differences.map(describeDifference).join('\n')).toBe('');
  return takeCalls();
}
