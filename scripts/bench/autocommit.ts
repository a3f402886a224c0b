/**
 * Compares agt with git on generated trees of 1,000, 10,000 and 100,000 files (`--sizes 1000,500000` for others). Runs
 * both in turn and prints medians in milliseconds and ratios. `--runs N` (default 7) sets the number of quick runs,
 * `--slow-runs N` (default 3) of those that create or delete whole trees.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { agt, type Call, env, git, makeTree, measure, median, must, place } from './harness.ts';

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    runs: { type: 'string', default: '7' },
    'slow-runs': { type: 'string', default: '3' },
    growth: { type: 'string', default: '1000' },
  },
});
/** How many files the simulated agent changes. */
const CHANGED = 100;

await main();

async function main(): Promise<void> {
  console.log(
    `${process.platform} ${process.arch}, node ${process.version}, ${must(git, ['version'], place).trim()}`,
  );
  for (const size of options.sizes.split(',').map(Number)) await benchTree(size);
  benchGrowth(Number(options.growth));
}

interface Step extends Call {
  /** Brings about what is to be measured, untimed. */
  readonly before?: () => void;
}

async function benchTree(size: number): Promise<void> {
  const repository = makeTree(size);
  const [quick, slow] = [Number(options.runs), Number(options['slow-runs'])];
  let made = 0;
  const sandboxOf = (id: string) => join(`${repository}.agt`, 'sessions', id, 'sandbox');
  const newSession = () => {
    const id = `s${made++}`;
    must(agt, ['session', 'new', '--id', id], repository);
    return id;
  };
  const work = newSession();
  const sandbox = sandboxOf(work);
  must(agt, ['autocommit'], sandbox);
  const all = must(git, ['ls-files'], repository).trim().split('\n');
  const names = all.filter((_, n) => n % (size / CHANGED) < 1);
  let turn = 0;
  const change = () => {
    turn++;
    for (const name of names) writeFileSync(join(sandbox, name), `${name} ${turn}\n`);
  };
  const status: Step = { program: git, args: ['status', '--porcelain'], cwd: sandbox };
  const index = join(place, 'index');
  const capture = (cwd: string): Step => ({ program: agt, args: ['autocommit'], cwd });
  const addAll: Step = {
    program: 'sh',
    args: ['-c', `"${git}" add -A && "${git}" write-tree`],
    cwd: sandbox,
    more: { GIT_INDEX_FILE: index },
    before: () => {
      change();
      writeFileSync(index, readFileSync(must(git, ['rev-parse', '--git-path', 'index'], sandbox).trim()));
    },
  };
  console.log(`\n${size} files`);
  row('nothing changed', 'git status', capture(sandbox), status, quick);
  row(`${CHANGED} changed`, 'git status', { ...capture(sandbox), before: change }, status, quick);
  row(`${CHANGED} changed`, 'add -A, write-tree', { ...capture(sandbox), before: change }, addAll, quick);
  let fresh = '';
  let untouched = '';
  row(
    'first autocommit',
    'git status',
    {
      ...capture(''),
      get cwd() {
        return fresh;
      },
      before: () => {
        fresh = sandboxOf(newSession());
      },
    },
    {
      ...status,
      get cwd() {
        return untouched;
      },
      before: () => {
        untouched = sandboxOf(newSession());
      },
    },
    slow,
  );
  const trees: string[] = [];
  const addTree = (): string => {
    const tree = join(place, `tree-${trees.length}`);
    trees.push(tree);
    return tree;
  };
  row(
    'session new',
    'git worktree add',
    {
      program: agt,
      get args() {
        return ['session', 'new', '--id', `s${made++}`];
      },
      cwd: repository,
    },
    {
      program: git,
      get args() {
        return ['worktree', 'add', '-q', '--detach', addTree()];
      },
      cwd: repository,
    },
    slow,
  );
  row(
    `restore of ${CHANGED}`,
    'git checkout of them',
    {
      program: agt,
      args: ['session', 'restore', work, '--to', 'as committed'],
      cwd: repository,
      before: () => {
        must(git, ['checkout', '-q', '--', '.'], sandbox);
        must(agt, ['autocommit', '--label', 'as committed'], sandbox);
        change();
      },
    },
    { program: git, args: ['checkout', '-q', '--', ...names], cwd: sandbox, before: change },
    slow,
  );
  change();
  console.log(
    `  peak memory: ${CHANGED} changed ${await peak(['autocommit'], sandbox)} MiB, session new ${await peak(['session', 'new'], repository)} MiB`,
  );
  rmSync(repository, { recursive: true });
  rmSync(`${repository}.agt`, { recursive: true });
  for (const tree of trees) rmSync(tree, { recursive: true });
}

/** Runs both in turn. The first pair only warms up. */
function row(what: string, against: string, own: Step, reference: Step, runs: number): void {
  const times: [number[], number[]] = [[], []];
  for (let run = 0; run <= runs; run++) {
    for (const which of run % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const time = measureStep(which === 0 ? own : reference);
      if (run > 0) times[which].push(time);
    }
  }
  const [mine, theirs] = times.map(median) as [number, number];
  console.log(
    `  ${what.padEnd(18)} ${mine.toFixed(0).padStart(6)} ms   ${against.padEnd(22)} ${theirs.toFixed(0).padStart(6)} ms   ×${(mine / theirs).toFixed(2)}`,
  );
}

function measureStep(step: Step): number {
  step.before?.();
  // Earlier writes must have reached the disk.
  spawnSync('sync');
  return measure(step);
}

/** Peak memory of agt in MiB, as the kernel reports it shortly before agt ends (Linux). */
function peak(args: readonly string[], cwd: string): Promise<number> {
  const child = spawn(agt, args, { cwd, env, stdio: 'ignore' });
  let kibibytes = 0;
  const look = () => {
    try {
      const noted = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      kibibytes = Math.max(kibibytes, Number(noted ?? 0));
    } catch {
      // it has ended
    }
  };
  const timer = setInterval(look, 2);
  return new Promise((resolve) =>
    child.on('exit', () => {
      clearInterval(timer);
      resolve(Math.round(kibibytes / 1024));
    }),
  );
}

/** Measures the disk that autocommits of one changed 10 KB file take. */
function benchGrowth(count: number): void {
  const repository = makeTree(100);
  must(agt, ['session', 'new', '--id', 's'], repository);
  const sandbox = join(`${repository}.agt`, 'sessions', 's', 'sandbox');
  const text = Array.from(
    { length: 200 },
    (_, n) => `line ${n} of a file that an agent works on, step by step\n`,
  );
  const size = () => Number(must('du', ['-sk', join(repository, '.git')], place).split('\t')[0]);
  must(git, ['gc', '-q'], repository);
  const before = size();
  for (let n = 0; n < count; n++) {
    text[n % text.length] =
      `line ${n % text.length} as it is after step ${n} of the work, whatever that may be\n`;
    writeFileSync(join(sandbox, 'work.txt'), text.join(''));
    must(agt, ['autocommit'], sandbox);
  }
  const grown = size();
  must(agt, ['gc', '--prune=now'], repository);
  console.log(
    `\n${count} autocommits of one file of 10 KB: the repository grows by ${grown - before} KiB, ${size() - before} KiB after agt gc`,
  );
}
