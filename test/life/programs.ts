/** The programs under test, run to their end. Nothing here comes from src. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export const AGT = join(root, 'dist', 'agt');
export const GIT_MODE = join(root, 'dist', 'git');
export const REAL_GIT = process.env['AGT_TEST_GIT'] ?? findRealGit();

function findRealGit(): string {
  for (const directory of (process.env['PATH'] ?? '').split(':')) {
    const path = join(directory, 'git');
    try {
      accessSync(path, constants.X_OK);
      if (basename(realpathSync(path)) !== 'agt') return path;
    } catch {
      // there is none in this directory
    }
  }
  throw new Error('no git on PATH');
}

export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** For every program of a life. Commits have the time of the clock. */
export function lifeEnvironment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { GIT_AUTHOR_DATE: _author, GIT_COMMITTER_DATE: _committer, ...env } = process.env;
  return {
    ...env,
    AGT_GIT_PATH: REAL_GIT,
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_MERGE_AUTOEDIT: 'no',
    ...extra,
  };
}

/** Output is read as latin1, so that no byte is lost. */
export function run(
  program: string,
  args: readonly string[],
  cwd: string,
  input: string | Buffer = '',
  extra: NodeJS.ProcessEnv = {},
): Outcome {
  const result = spawnSync(program, args, {
    cwd,
    input,
    env: lifeEnvironment(extra),
    maxBuffer: 1 << 28,
    encoding: 'latin1',
  });
  if (result.error !== undefined) throw result.error;
  if (result.signal !== null) throw new Error(`${program} ${args.join(' ')}: ${result.signal}`);
  return { exitCode: result.status, stdout: result.stdout, stderr: result.stderr };
}

/** Runs it and throws if it fails. Returns standard output. */
export function ok(program: string, args: readonly string[], cwd: string, input?: string | Buffer): string {
  const { exitCode, stdout, stderr } = run(program, args, cwd, input);
  if (exitCode === 0) return stdout;
  throw new Error(`${basename(program)} ${args.join(' ')}: exit code ${exitCode}\n${stdout}${stderr}`);
}

export function parseJson<T>(stdout: string): T {
  return JSON.parse(Buffer.from(stdout, 'latin1').toString()) as T;
}

export function makeDirectory(name: string): string {
  const parent = process.env['AGT_TEST_ROOT'];
  if (parent === undefined) throw new Error('AGT_TEST_ROOT is set by test/harness/build.ts');
  return mkdtempSync(join(realpathSync(parent), `${name}-`));
}
