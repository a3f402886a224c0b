/**
 * The time that an agent waits after a call of a tool: `agt autocommit` and `agt hook` through the front, through the front
 * with a watcher that answers, and by the executable alone, and `git status` beside them, in turn, on generated trees of
 * 1,000, 10,000 and 100,000 files (`--sizes`). Prints medians of `--runs N` (default 15) in milliseconds, and the ratio to
 * `git status`. opencode's algorithm takes part, and jj if it is installed.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { agt, type Call, env, git, makeTree, measure, median, must, pathOf, place } from './harness.ts';

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    runs: { type: 'string', default: '15' },
  },
});
const jj = (process.env['PATH'] ?? '').split(delimiter).find((dir) => existsSync(join(dir, 'jj')));
const front = join(place, 'bin', 'agt');

/** How many files a tool changes. */
const CHANGES = [0, 1, 100];

must(agt, ['shim', 'install', '--dir', dirname(front)], place);
for (const size of options.sizes.split(',').map(Number)) bench(size);

/** A program in a copy of the files of its own, so that none finds the changes of another recorded. */
interface Subject extends Call {
  readonly name: string;
}

function bench(size: number): void {
  const repositories = ['', 'watched', 'one'].map((name) => makeTree(size, `files-${size}${name}`));
  const [repository = '', watched = '', one = ''] = repositories;
  const subjects = [...subjectsIn(repository), ...watchedSubjectsIn(watched), allSessionsOf(one)];
  const watcher = watch(watched);
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
  watcher.kill('SIGKILL');
  for (const path of repositories.flatMap((path) => [path, `${path}.agt`])) rmSync(path, { recursive: true });
}

/** It captures when it is asked, and not by itself. */
function watch(cwd: string): ChildProcess {
  const watcher = spawn(agt, ['watch', '--debounce', '3600', '--interval', '3600'], {
    cwd,
    env,
    stdio: 'ignore',
  });
  for (let i = 0; i < 500 && !existsSync(join(cwd, '.git/agt/front/.watcher')); i++)
    spawnSync('sleep', ['0.02']);
  return watcher;
}

function sandboxIn(repository: string, id: string): string {
  must(agt, ['session', 'new', '--id', id], repository);
  return join(`${repository}.agt`, 'sessions', id, 'sandbox');
}

function autocommit(repository: string, name: string, program: string): Subject {
  const cwd = sandboxIn(repository, `${name}-autocommit`);
  return { name: `${name} autocommit`, program, args: ['autocommit'], cwd };
}

function hook(repository: string, name: string, program: string): Subject {
  const cwd = sandboxIn(repository, `${name}-hook`);
  const input = JSON.stringify({ session_id: 'c', cwd, hook_event_name: 'PostToolUse', tool_name: 'Bash' });
  return { name: `${name} hook`, program, args: ['hook', 'claude-code'], cwd, input };
}

function subjectsIn(repository: string): Subject[] {
  return [
    { name: 'git status', program: git, args: ['status', '--porcelain'], cwd: sandboxIn(repository, 'git') },
    autocommit(repository, 'front', front),
    hook(repository, 'front', front),
    autocommit(repository, 'agt', agt),
    hook(repository, 'agt', agt),
    opencodeIn(repository),
    ...(jj === undefined ? [] : [jjIn(repository)]),
  ];
}

function watchedSubjectsIn(repository: string): Subject[] {
  return [autocommit(repository, 'watcher', front), hook(repository, 'watcher', front)];
}

/** For cron. The repository has one session. */
function allSessionsOf(repository: string): Subject {
  return {
    ...autocommit(repository, 'all', agt),
    name: 'agt autocommit --all',
    args: ['autocommit', '--all'],
  };
}

/** A git directory beside the files, and the tree of all of them. */
function opencodeIn(repository: string): Subject {
  const cwd = sandboxIn(repository, 'opencode');
  const gitDir = `${repository}.agt/opencode.git`;
  must(git, ['init', '-q', '--bare', gitDir], place);
  const run = `'${git}' --git-dir '${gitDir}' --work-tree .`;
  return { name: 'opencode', program: 'sh', args: ['-c', `${run} add -A . && ${run} write-tree`], cwd };
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
