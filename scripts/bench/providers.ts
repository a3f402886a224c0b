/**
 * Compares a provider with git, in turn, on a disk that it makes on a loop device: btrfs, `--provider overlay` on ext4, or
 * `--provider zfs` on a pool of zfs-fuse, whose daemon must run. It takes 100,000 tracked and 20,000 ignored files (`--size
 * 10000` for others, with a fifth as many ignored ones), and prints medians of `--runs N` (default 3) in seconds. It needs
 * root and the tools of that file system.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { agt, git, measure, median, must, place } from './harness.ts';

const { values: options } = parseArgs({
  options: {
    size: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '3' },
    provider: { type: 'string', default: 'btrfs' },
  },
});
const disk = join(place, 'disk');
const repository = join(disk, 'project');
const { provider } = options;
const PROVIDERS = ['git', provider];
const POOL = `agt-bench-${process.pid}`;
const FILES_IN_DIRECTORY = 100;
const DISK_SIZE = 16 * 2 ** 30;
let made = 0;

try {
  mountDisk();
  makeProject(Number(options.size));
  bench(Number(options.runs));
} finally {
  if (provider === 'zfs') destroyPool();
  else spawnSync('umount', ['--lazy', disk]);
}

function mountDisk(): void {
  mkdirSync(disk);
  const image = join(place, 'image');
  writeFileSync(image, '');
  truncateSync(image, DISK_SIZE);
  if (provider === 'zfs') {
    must('zpool', ['create', '-m', disk, POOL, image], place);
    return;
  }
  must(provider === 'overlay' ? 'mkfs.ext4' : 'mkfs.btrfs', ['-q', image], place);
  must('mount', ['-o', 'loop', image, disk], place);
}

/** A git in the background may still be looking at the last session. */
function destroyPool(): void {
  for (let attempt = 0; attempt < 20; attempt++) {
    if (spawnSync('zpool', ['destroy', '-f', POOL]).status === 0) return;
    spawnSync('sleep', ['1']);
  }
}

function makeProject(size: number): void {
  mkdirSync(repository);
  must(git, ['init', '-q', '-b', 'main'], repository);
  must(git, ['config', 'user.name', 'Bench'], repository);
  must(git, ['config', 'user.email', 'bench@example.com'], repository);
  fill(join(repository, 'src'), size);
  writeFileSync(join(repository, '.gitignore'), 'node_modules/\n');
  must(git, ['add', '-A'], repository);
  must(git, ['commit', '-q', '-m', 'files'], repository);
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
  const time = (provider: string, step: string, program: string, args: string[], cwd: string) => {
    const key = `${provider}\t${step}`;
    times.set(key, [...(times.get(key) ?? []), measure({ program, args, cwd })]);
  };
  const sandboxOf = (id: string) => join(`${repository}.agt`, 'sessions', id, 'sandbox');
  const first = ['session', 'new', 'template', '-q', '--fs-snapshots', PROVIDERS[1] as string];
  must(agt, first, repository); // it checks out
  must(git, ['status'], repository);
  for (let n = 0; n < runs; n++) {
    for (const provider of PROVIDERS) {
      const [one, fork] = [`s${made++}`, `f${made++}`];
      const how = ['--fs-snapshots', provider, '-q'];
      time(provider, 'session new', agt, ['session', 'new', one, ...how], repository);
      fill(join(sandboxOf(one), 'node_modules'), Number(options.size) / 5);
      must(agt, ['autocommit', '--session-id', one], repository);
      time(provider, 'session fork', agt, ['session', 'fork', one, '--id', fork, ...how], repository);
      time(provider, 'git status in the fork, first', git, ['status'], sandboxOf(fork));
      time(provider, 'git status in the fork, second', git, ['status'], sandboxOf(fork));
      time(provider, 'first autocommit in the fork', agt, ['autocommit'], sandboxOf(fork));
      writeFileSync(join(sandboxOf(one), 'src/d0/f0.ts'), 'changed\n');
      time(provider, 'autocommit, one file changed', agt, ['autocommit', '--session-id', one], repository);
      writeFileSync(join(sandboxOf(one), 'src/d0/f0.ts'), 'changed once more\n');
      must(agt, ['autocommit', one], repository); // so that the undo has no moment to capture before
      rmSync(join(sandboxOf(one), 'node_modules'), { recursive: true });
      time(provider, 'undo of rm -rf node_modules', agt, ['undo', one, '-q'], repository);
      const at = `a${made++}`;
      const from = ['session', 'fork', one, '--at', '@{0}', '--id', at, ...how];
      time(provider, 'session fork --at', agt, from, repository);
      must(agt, ['session', 'remove', at], repository);
      time(provider, 'session remove', agt, ['session', 'remove', fork], repository);
      must(agt, ['session', 'remove', one], repository);
    }
  }
  for (const [key, values] of [...times].sort(([a], [b]) => order(a, b))) {
    console.log(`${key}\t${(median(values) / 1000).toFixed(2)}`);
  }
}

/** By step, then by provider. */
function order(a: string, b: string): number {
  const [first, second] = [a, b].map((key) => key.split('\t').reverse().join('\t')) as [string, string];
  return first < second ? -1 : 1;
}
