/**
 * The time that a person waits: `agt --version` beside the start of the same Node, `agt list` with 31 sessions, without work
 * and with uncommitted work in each, `agt search`, and `agt blame` beside that of git. Prints medians of `--runs N` (default 15) in milliseconds.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { agt, type Call, git, makeTree, measure, median, must, pathOf, place } from './harness.ts';

const { values: options } = parseArgs({ options: { runs: { type: 'string', default: '15' } } });
const SESSIONS = 31;

const empty = join(place, 'empty.js');
writeFileSync(empty, '');
print('start', [
  { name: 'node', program: process.execPath, args: [empty], cwd: place },
  { name: 'agt --version', program: agt, args: ['--version'], cwd: place },
]);
for (const size of [20, 300]) benchList(size);
benchSearch(2000, 10_000);
benchBlame(50_000, 2000);

function benchList(size: number): void {
  const repository = makeTree(size);
  const ids = Array.from({ length: SESSIONS }, (_, n) => `s${n}`);
  for (const id of ids) must(agt, ['session', 'new', id], repository);
  const list = { name: 'agt list', program: agt, args: ['list'], cwd: repository };
  print(`${SESSIONS} sessions of ${size} files`, [list]);
  for (const id of ids)
    writeFileSync(join(`${repository}.agt`, 'sessions', id, 'sandbox', pathOf(1)), `the work of ${id}\n`);
  print('with work in each', [list]);
}

/** Each snapshot changes three files. git writes all of them at once, where agt would take minutes. */
function benchSearch(snapshots: number, size: number): void {
  const repository = makeTree(size, 'searched');
  must(agt, ['session', 'new', 's1'], repository);
  const session = join(`${repository}.agt`, 'sessions', 's1', 'sandbox');
  writeFileSync(join(session, pathOf(0)), 'changed\n');
  must(agt, ['autocommit', 's1'], repository);
  const [ref = '', message = ''] = ['refs/agt/tip/s1', 'autocommit\n\nAgt-Session: s1\nAgt-Head: HEAD\n'];
  const [tip, start] = [ref, `${ref}^2`].map((name) => must(git, ['rev-parse', name], repository).trim());
  const commits = Array.from({ length: snapshots }, (_, n) => {
    const files = [0, 1, 2].map((i) => {
      const path = pathOf((n * 3 + i) % size);
      const content = `version ${n}\n${n % 200 === i ? 'needle\n' : ''}`;
      return `M 100644 inline sandbox/${path}\ndata ${content.length}\n${content}\n`;
    });
    const parents = `${n === 0 ? `from ${tip}\n` : ''}merge ${start}\n`;
    const head = `commit ${ref}\ncommitter agt <s1@agt> ${1_700_000_000 + n} +0000\ndata ${message.length}\n`;
    return `${head}${message}${parents}${files.join('')}\n`;
  });
  must(git, ['fast-import', '--quiet', '--force'], repository, commits.join(''));
  const search = (name: string, ...words: string[]) => ({
    name,
    program: agt,
    args: ['search', ...words],
    cwd: repository,
  });
  print(`${snapshots} snapshots of ${size} files`, [
    search('agt search', 'needle'),
    search('with -G', '-G', 'ne+dle'),
  ]);
}

/**
 * Each tenth commit changes the file, and its lines come from all of the history. An accepted session has changed five lines
 * in five calls.
 */
function benchBlame(commits: number, size: number): void {
  const repository = makeTree(1, 'blamed');
  const lines = Array.from({ length: size }, (_, n) => `line ${n}\n`);
  const history = Array.from({ length: commits }, (_, n) => {
    lines[(Math.floor((n * size) / commits) * 7919) % size] = `line of ${n}\n`;
    const [path, content] = n % 10 === 0 ? ['file', lines.join('')] : [`other${n % 200}`, `${n}\n`];
    const head = `commit refs/heads/main\ncommitter Ada <ada@agt> ${1_700_000_000 + n} +0000\ndata 1\nc\n`;
    return `${head}M 100644 inline ${path}\ndata ${content.length}\n${content}\n`;
  });
  must(git, ['fast-import', '--quiet', '--force'], repository, history.join(''));
  must(git, ['reset', '-q', '--hard', 'main'], repository);
  must(agt, ['session', 'new', 's1'], repository);
  const sandbox = join(`${repository}.agt`, 'sessions', 's1', 'sandbox');
  for (let call = 1; call <= 5; call++) {
    lines[call * 100] = `by the agent, ${call}\n`;
    writeFileSync(join(sandbox, 'file'), lines.join(''));
    must(agt, ['session', 'record', 's1', '--tool', 'Edit'], repository);
  }
  must(agt, ['accept', 's1'], repository);
  print(`${commits} commits`, [
    { name: 'git blame', program: git, args: ['blame', 'file'], cwd: repository },
    { name: 'agt blame', program: agt, args: ['blame', 'file'], cwd: repository },
    { name: 'agt why', program: agt, args: ['why', 'file:101'], cwd: repository },
  ]);
}

/** Runs them in turn. The first run of each only warms up. */
function print(title: string, calls: readonly (Call & { readonly name: string })[]): void {
  const times = calls.map((): number[] => []);
  for (let run = 0; run <= Number(options.runs); run++) {
    for (const [n, call] of calls.entries()) {
      const time = measure(call);
      if (run > 0) times[n]?.push(time);
    }
  }
  const cells = calls.map(({ name }, n) => `${name} ${median(times[n] ?? []).toFixed(0)} ms`);
  console.log(`${title.padEnd(26)} ${cells.join('   ')}`);
}
