/** Temporary directories, and functions that run the real git and the built agt and return their output. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { findGit } from '../../src/git/run/find-git.ts';
import { once } from '../../src/once.ts';
import { isQuick } from './quick.ts';
import { starts } from './starts.ts';
import { runWarm } from './warm-agt.ts';

const root = join(import.meta.dirname, '..', '..');

/** The packed executable under its two names. */
export const AGT = join(root, 'dist', 'agt');
export const GIT_MODE = join(root, 'dist', 'git');

/** The git under test: AGT_TEST_GIT, or the first on PATH that is not agt. */
export const REAL_GIT = process.env['AGT_TEST_GIT'] ?? findGit({ env: process.env, self: [AGT] });

export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment in which agt runs this program, which must be called git, in place of the real git. */
export function runsAsGit(path: string): { AGT_GIT_PATH: string; PATH: string } {
  return { AGT_GIT_PATH: path, PATH: `${dirname(path)}:${process.env['PATH']}` };
}

export interface RunSettings {
  readonly cwd: string;
  readonly input?: string | Buffer;
  readonly env?: Record<string, string | undefined>;
}

/** Runs a program to its end. Output is read as latin1, so that no byte is lost. */
export function run(program: string, args: readonly string[], settings: RunSettings): Outcome {
  const env: NodeJS.ProcessEnv = { ...process.env, AGT_GIT_PATH: REAL_GIT, ...settings.env };
  if (program === AGT || program === GIT_MODE) {
    if (isQuick) throw new Error('test/harness/quick.ts runs only what starts no executable');
    starts[isWarm() ? 'saved' : 'made'] += 1;
    const question = { name: basename(program), args, cwd: settings.cwd, env };
    if (isWarm()) return runWarm(question, settings.input ?? '', () => makeTempDir('warm'));
  }
  const result = spawnSync(program, args, {
    cwd: settings.cwd,
    env,
    input: settings.input ?? '',
    maxBuffer: 1 << 30,
    encoding: 'latin1',
  });
  if (result.error !== undefined) throw result.error;
  return { exitCode: result.status, stdout: result.stdout, stderr: result.stderr };
}

/** Here the start of the executable is not what is tested: a warm process saves it, unless AGT_TEST_WARM=0. */
const WARM =
  /\/test\/(agtmode(?!\/front)|autocommit|cli|filter|git|gitmode(?!\/shim)|integrations|landing|lifecycle|maintenance|providers|repository|running|session|snapshot|survey|timetravel|topology|travel|triggers(?!\/front)|life\/(histories|lines|review))\b/;

/** The executable itself, mounted snapshots, and disks that have to be unmounted. */
const NOT_WARM =
  /\/(cli\/(budget|mount\S*|program|session|state-directory)|git\/run\/become|integrations\/keep-answering|gitmode\/(invocation|surroundings|which-git)|landing\/scenarios|autocommit\/exhausted)\.test\.ts$/;

const isWarm = () => {
  const path = expect.getState().testPath ?? '';
  return process.env['AGT_TEST_WARM'] !== '0' && WARM.test(path) && !NOT_WARM.test(path);
};

/** The real git; a failure fails the test. Returns standard output without the final line break. */
export function git(cwd: string, ...args: string[]): string {
  const outcome = run(REAL_GIT, args, { cwd });
  if (outcome.exitCode !== 0)
    throw new Error(`git ${args.join(' ')}: ${outcome.exitCode}\n${outcome.stderr}`);
  return outcome.stdout.replace(/\n$/, '');
}

/** The built agt, whatever its exit code. */
export function agt(cwd: string, ...args: string[]): Outcome {
  const isThroughFront = Boolean(process.env['AGT_TEST_FRONT']) && args[0] === 'autocommit';
  return run(isThroughFront ? front() : AGT, args, { cwd });
}

/** The script that answers in place of agt, if nothing has changed. */
const front = once(() => {
  const directory = makeTempDir('front');
  run(AGT, ['shim', 'install', '--dir', directory], { cwd: '/' });
  return join(directory, 'agt');
});

/** The built agt; a failure fails the test. Returns standard output without the final line break. */
export function agtOk(cwd: string, ...args: string[]): string {
  const outcome = agt(cwd, ...args);
  if (outcome.exitCode !== 0) {
    throw new Error(`agt ${args.join(' ')}: ${outcome.exitCode}\n${outcome.stdout}${outcome.stderr}`);
  }
  return outcome.stdout.replace(/\n$/, '');
}

/** A new directory; all of them are removed at the end of the test run. */
export function makeTempDir(name = 'case'): string {
  const parent = process.env['AGT_TEST_ROOT'];
  if (parent === undefined) throw new Error('AGT_TEST_ROOT is set by test/harness/build.ts');
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(realpathSync(parent), `${name}-`));
}

export function write(path: string, content: string | Buffer, mode?: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  if (mode !== undefined) chmodSync(path, mode);
}

/** A repository with one commit on main, in a directory of its own. */
type Files = Readonly<Record<string, string | Buffer>>;

export function makeRepository(files: Files = { 'README.md': 'hello\n' }): string {
  return makeRepositoryAt(join(makeTempDir(), 'project'), files);
}

export function makeRepositoryAt(dir: string, files: Files): string {
  mkdirSync(dir, { recursive: true });
  git(dir, 'init', '-q', '-b', 'main');
  for (const [path, content] of Object.entries(files)) write(join(dir, path), content);
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '--allow-empty', '-m', 'first');
  return dir;
}
