/** The benchmarks share this: a place that goes at the end, the programs, and trees of files. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findGit } from '../../src/git/run/find-git.ts';

/** A directory of this run alone. */
export const place = realpathSync(mkdtempSync(join(tmpdir(), 'agt-bench-')));
export const agt = join(import.meta.dirname, '..', '..', 'dist', 'agt');
export const git = findGit({ env: process.env, self: [agt] });
export const env: Readonly<Record<string, string>> = {
  PATH: `${dirname(git)}:${process.env['PATH'] ?? ''}`,
  HOME: place,
  AGT_GIT_PATH: git,
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.com',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.com',
  GIT_CONFIG_NOSYSTEM: '1',
};

process.on('exit', () => rmSync(place, { recursive: true, force: true }));

export function must(program: string, args: readonly string[], cwd: string, input = ''): string {
  const result = spawnSync(program, args, { cwd, env, input, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (result.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

export interface Call {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly input?: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** In milliseconds. */
export function measure({ program, args, cwd, input = '', more }: Call): number {
  const start = process.hrtime.bigint();
  const result = spawnSync(program, args, { cwd, env: { ...env, ...more }, input, encoding: 'utf8' });
  const time = Number(process.hrtime.bigint() - start) / 1e6;
  if (result.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${result.stderr}`);
  return time;
}

export function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

/** A repository with `size` committed files of some 30 bytes, a hundred to a directory. */
export function makeTree(size: number, name = `files-${size}`): string {
  const repository = join(place, name);
  must(git, ['init', '-q', '-b', 'main', repository], place);
  for (let n = 0; n < size; n++) {
    if (n % 100 === 0) mkdirSync(dirname(join(repository, pathOf(n))), { recursive: true });
    writeFileSync(join(repository, pathOf(n)), `the content of file ${n}\n`);
  }
  must(git, ['add', '-A'], repository);
  must(git, ['commit', '-q', '-m', 'files'], repository);
  return repository;
}

export function pathOf(file: number): string {
  return `d${Math.floor(file / 10_000)}/e${Math.floor(file / 100) % 100}/file-${file}.txt`;
}

/** By `git daemon`: the address of what is in `place`. */
export async function serveGit(): Promise<string> {
  const port = 20_000 + (process.pid % 20_000);
  const words = [
    'daemon',
    '--export-all',
    '--enable=receive-pack',
    `--base-path=${place}`,
    '--max-connections=0',
  ];
  const daemon = spawn(git, [...words, '--listen=127.0.0.1', `--port=${port}`, place], {
    env,
    detached: true,
    stdio: 'ignore',
  });
  daemon.unref();
  process.on('exit', () => {
    if (daemon.pid !== undefined) process.kill(-daemon.pid, 'SIGKILL');
  });
  const address = `git://127.0.0.1:${port}`;
  while (daemon.exitCode === null) {
    const asked = spawnSync(git, ['ls-remote', `${address}/none.git`], { env, encoding: 'utf8' });
    if (!/unable to connect/.test(asked.stderr)) return address;
  }
  throw new Error('git daemon has ended');
}
