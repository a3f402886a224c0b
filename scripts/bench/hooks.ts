/**
 * What an agent waits for after a call of a tool: `agt autocommit` and `agt hook` through the front and by the executable
 * alone, and `git status` beside them, in turn, on generated trees of 1,000, 10,000 and 100,000 files (`--sizes`). Prints
 * medians of `--runs N` (default 15) in milliseconds, and the ratio to `git status`. jj takes part if it is installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { findGit } from '../../src/git/run/find-git.ts';

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    runs: { type: 'string', default: '15' },
  },
});
const place = realpathSync(mkdtempSync(join(tmpdir(), 'agt-bench-')));
const agt = join(import.meta.dirname, '..', '..', 'dist', 'agt');
const git = findGit({ path: process.env['PATH'], self: [agt] });
const jj = (process.env['PATH'] ?? '').split(delimiter).find((dir) => existsSync(join(dir, 'jj')));
const env = {
  PATH: `${dirname(git)}:${process.env['PATH'] ?? ''}`,
  HOME: place,
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.com',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.com',
  GIT_CONFIG_NOSYSTEM: '1',
};
const front = join(place, 'bin', 'agt');

/** How many files a tool changes. */
const CHANGES = [0, 1, 100];

try {
  must(agt, ['shim', 'install', '--dir', dirname(front)], place);
  for (const size of options.sizes.split(',').map(Number)) bench(size);
} finally {
  rmSync(place, { recursive: true, force: true });
}

/** A program in a copy of the files of its own, so that none finds the changes of another recorded. */
interface Subject {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly input?: string;
}

function bench(size: number): void {
  const repository = makeTree(size);
  const subjects = subjectsIn(repository);
  for (const subject of subjects) settle(subject);
  console.log(`\n${size} files`);
  for (const changed of CHANGES) {
    const times = subjects.map((): number[] => []);
    for (let run = 0; run < Number(options.runs); run++) {
      for (const [n, subject] of subjects.entries()) {
        change(subject.cwd, size, changed, run);
        times[n]?.push(measure(subject));
        if (changed > 0) settle(subject);
      }
    }
    const [reference = Number.NaN, ...others] = times.map(median);
    const cells = others.map((time, n) => {
      const ratio = (time / reference).toFixed(2);
      return `${subjects[n + 1]?.name} ${time.toFixed(1)} ×${ratio}`;
    });
    console.log(
      `  ${`${changed} changed`.padEnd(12)} git status ${reference.toFixed(1)}   ${cells.join('   ')}`,
    );
  }
  rmSync(repository, { recursive: true });
  rmSync(`${repository}.agt`, { recursive: true });
}

function subjectsIn(repository: string): Subject[] {
  const sandbox = (id: string) => {
    must(agt, ['session', 'new', '--id', id], repository);
    return join(`${repository}.agt`, 'sessions', id, 'sandbox');
  };
  const autocommit = (name: string, program: string): Subject => {
    return { name: `${name} autocommit`, program, args: ['autocommit'], cwd: sandbox(`${name}-autocommit`) };
  };
  const hook = (name: string, program: string): Subject => {
    const cwd = sandbox(`${name}-hook`);
    const input = JSON.stringify({ session_id: 'c', cwd, hook_event_name: 'PostToolUse', tool_name: 'Bash' });
    return { name: `${name} hook`, program, args: ['hook', 'claude-code'], cwd, input };
  };
  return [
    { name: 'git status', program: git, args: ['status', '--porcelain'], cwd: sandbox('git') },
    autocommit('front', front),
    hook('front', front),
    autocommit('agt', agt),
    hook('agt', agt),
    ...(jj === undefined ? [] : [jjIn(repository)]),
  ];
}

function jjIn(repository: string): Subject {
  const cwd = `${repository}.agt/jj`;
  must(git, ['clone', '-q', repository, cwd], place);
  must('jj', ['git', 'init', '--colocate'], cwd);
  return { name: 'jj status', program: 'jj', args: ['status'], cwd };
}

/** Until all that has changed is recorded, and the program knows the files. */
function settle(subject: Subject): void {
  for (let i = 0; i < 2; i++) measure(subject);
}

function change(folder: string, size: number, count: number, run: number): void {
  for (let n = 0; n < count; n++) {
    const file = Math.floor((n * size) / Math.max(count, 1));
    writeFileSync(join(folder, pathOf(file)), `the content of file ${file} in run ${run} ${count}\n`);
  }
}

function measure({ program, args, cwd, input = '' }: Subject): number {
  const start = process.hrtime.bigint();
  const result = spawnSync(program, args, { cwd, env, input, encoding: 'utf8' });
  const time = Number(process.hrtime.bigint() - start) / 1e6;
  if (result.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${result.stderr}`);
  return time;
}

/** Commits `size` files of some 30 bytes, a hundred to a directory. */
function makeTree(size: number): string {
  const repository = join(place, `files-${size}`);
  must(git, ['init', '-q', '-b', 'main', repository], place);
  for (let n = 0; n < size; n++) {
    if (n % 100 === 0) mkdirSync(dirname(join(repository, pathOf(n))), { recursive: true });
    writeFileSync(join(repository, pathOf(n)), `the content of file ${n}\n`);
  }
  must(git, ['add', '-A'], repository);
  must(git, ['commit', '-q', '-m', 'files'], repository);
  return repository;
}

function pathOf(file: number): string {
  return `d${Math.floor(file / 10_000)}/e${Math.floor(file / 100) % 100}/file-${file}.txt`;
}

function must(program: string, args: readonly string[], cwd: string): string {
  const result = spawnSync(program, args, { cwd, env, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (result.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
