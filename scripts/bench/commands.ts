/**
 * The time that a person waits: `agt --version` beside the start of the same Node, and `agt list` with 31 sessions, without
 * work and with uncommitted work in each. Prints medians of `--runs N` (default 15) in milliseconds.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { agt, type Call, makeTree, measure, median, must, pathOf, place } from './harness.ts';

const { values: options } = parseArgs({ options: { runs: { type: 'string', default: '15' } } });
const SESSIONS = 31;

const empty = join(place, 'empty.js');
writeFileSync(empty, '');
print('start', [
  { name: 'node', program: process.execPath, args: [empty], cwd: place },
  { name: 'agt --version', program: agt, args: ['--version'], cwd: place },
]);
for (const size of [20, 300]) benchList(size);

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
