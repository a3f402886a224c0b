/**
 * Compares the providers with git, in turn, on a btrfs that it mounts on a loop device: 100,000 tracked and 20,000 ignored
 * files (`--size 10000` for others, with a fifth as many ignored ones). Prints medians of `--runs N` (default 3) in seconds.
 * It needs root and btrfs-progs.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { findGit } from '../../src/git/run/find-git.ts';

const { values: options } = parseArgs({
  options: { size: { type: 'string', default: '100000' }, runs: { type: 'string', default: '3' } },
});
const agt = join(import.meta.dirname, '..', '..', 'dist', 'agt');
const git = findGit({ path: process.env['PATH'], self: [agt] });
const place = realpathSync(mkdtempSync(join(tmpdir(), 'agt-bench-')));
const disk = join(place, 'disk');
const repository = join(disk, 'project');
const env = {
  PATH: `${dirname(git)}:${process.env['PATH'] ?? ''}`,
  HOME: place,
  AGT_GIT_PATH: git,
  GIT_CONFIG_NOSYSTEM: '1',
};
const PROVIDERS = ['git', 'btrfs'];
const FILES_IN_DIRECTORY = 100;
const DISK_SIZE = 16 * 2 ** 30;
let made = 0;

try {
  mountDisk();
  makeProject(Number(options.size));
  bench(Number(options.runs));
} finally {
  spawnSync('umount', ['--lazy', disk]);
  rmSync(place, { recursive: true, force: true });
}

function mountDisk(): void {
  mkdirSync(disk);
  const image = join(place, 'image');
  writeFileSync(image, '');
  truncateSync(image, DISK_SIZE);
  run('mkfs.btrfs', ['-q', image], place);
  run('mount', ['-o', 'loop', image, disk], place);
}

function makeProject(size: number): void {
  mkdirSync(repository);
  run(git, ['init', '-q', '-b', 'main'], repository);
  run(git, ['config', 'user.name', 'Bench'], repository);
  run(git, ['config', 'user.email', 'bench@example.com'], repository);
  fill(join(repository, 'src'), size);
  writeFileSync(join(repository, '.gitignore'), 'node_modules/\n');
  run(git, ['add', '-A'], repository);
  run(git, ['commit', '-q', '-m', 'files'], repository);
}

function fill(directory: string, files: number): void {
  for (let n = 0; n < files; n++) {
    const parent = join(directory, `d${Math.floor(n / FILES_IN_DIRECTORY)}`);
    if (n % FILES_IN_DIRECTORY === 0) mkdirSync(parent, { recursive: true });
    writeFileSync(join(parent, `f${n}.ts`), `export const x${n} = ${n};\n`.repeat(1 + (n % 30)));
  }
}

function bench(runs: number): void {
  const times = new Map<string, number[]>();
  const measure = (provider: string, step: string, program: string, args: string[], cwd: string) => {
    const key = `${provider}\t${step}`;
    const start = performance.now();
    run(program, args, cwd);
    times.set(key, [...(times.get(key) ?? []), (performance.now() - start) / 1000]);
  };
  const sandboxOf = (id: string) => join(`${repository}.agt`, 'sessions', id, 'sandbox');
  run(agt, ['session', 'new', 'template', '-q'], repository); // the first one checks out
  run(git, ['status'], repository);
  for (let n = 0; n < runs; n++) {
    for (const provider of PROVIDERS) {
      const [one, fork] = [`s${made++}`, `f${made++}`];
      const how = ['--fs-snapshots', provider, '-q'];
      measure(provider, 'session new', agt, ['session', 'new', one, ...how], repository);
      fill(join(sandboxOf(one), 'node_modules'), Number(options.size) / 5);
      run(agt, ['autocommit', '--session-id', one], repository);
      measure(provider, 'session fork', agt, ['session', 'fork', one, '--id', fork, ...how], repository);
      measure(provider, 'git status in the fork, first', git, ['status'], sandboxOf(fork));
      measure(provider, 'git status in the fork, second', git, ['status'], sandboxOf(fork));
      measure(provider, 'first autocommit in the fork', agt, ['autocommit'], sandboxOf(fork));
      measure(provider, 'session remove', agt, ['session', 'remove', fork], repository);
      run(agt, ['session', 'remove', one], repository);
    }
  }
  for (const [key, values] of [...times].sort(([a], [b]) => order(a, b))) {
    const median = values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
    console.log(`${key}\t${median.toFixed(2)}`);
  }
}

/** By step, then by provider. */
function order(a: string, b: string): number {
  const [first, second] = [a, b].map((key) => key.split('\t').reverse().join('\t')) as [string, string];
  return first < second ? -1 : 1;
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
}
