/**
 * The server of `agt ui`, as the client asks it: `--sessions N` (default 50) of `--snapshots N` (default 2,000) each. Prints
 * medians of `--runs N` (default 7) in milliseconds, the size of the page, and what the server grows by over 1,000 updates of
 * the list; each beside its bound. Exits with 1 if one is missed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { agt, env, git, makeTree, median, must, pathOf, place } from './harness.ts';

const { values: options } = parseArgs({
  options: {
    sessions: { type: 'string', default: '50' },
    snapshots: { type: 'string', default: '2000' },
    runs: { type: 'string', default: '7' },
  },
});
const [sessions, snapshots, runs] = [options.sessions, options.snapshots, options.runs].map(Number) as [
  number,
  number,
  number,
];
const main = join(agt, '..', 'main.cjs');
const repository = makeTree(200, 'page');
for (let n = 0; n < sessions; n++) addSession(`s${n}`);

const starts: number[] = [];
for (let n = 0; n < runs; n++) {
  const { address, child } = await serve([agt]);
  const begin = performance.now();
  await Promise.all(['', 'page.js', 'page.css'].map((name) => textOf(address + name)));
  await updates(address, 1);
  starts.push(performance.now() - begin);
  child.kill();
}
print('first view: the page and its list', median(starts), 1000, 'ms');

const { address, child } = await serve([agt]);
await updates(address, 1);
const log = (id: string) => ['session', 'log', id, '--number', '300'];
const steps = (await run(log('s0'), '--stat')) as { commit: string }[];
const [b = '', a = ''] = steps.map(({ commit }) => commit);
const timeline = (id: string) => Promise.all(['--turns', '--stat'].map((what) => run(log(id), what)));
await timed('timeline of a session', (n) => timeline(`s${n % sessions}`));
const diff = (id: string, ...words: string[]) => run(['session', 'diff', id, ...words], '--patch');
await timed('diff of a step', () => diff('s0', a, b));
await timed('diff of a turn', (n) => diff(`s${n % sessions}`, '--turn', '7'));
await timed('diff of a session', (n) => diff(`s${n % sessions}`, '--base'));
const parts = await Promise.all(['', 'page.js', 'page.css'].map((name) => textOf(address + name)));
print('the page, compressed', gzipSync(parts.join('')).length / 1000, 300, 'KB');
child.kill();
await memory(1000);

/** The history of an agent whose every twentieth step is a prompt. */
function addSession(id: string): void {
  must(agt, ['session', 'new', id], repository);
  must(agt, ['autocommit', id], repository);
  const [first = '', head = ''] = must(git, ['rev-parse', `refs/agt/tip/${id}`, 'HEAD'], repository).split(
    '\n',
  );
  const now = Math.floor(Date.now() / 1000);
  const commit = (n: number) => {
    const who = `agt <agt@local> ${now - 10 * (snapshots - n)} +0000`;
    const path = pathOf(n % 200);
    const subject = n % 20 === 1 ? `prompt: task ${n}` : `Write: ${path}`;
    const call = `Agt-Tool: Write\nAgt-Call: ${n}\nAgt-Summary: ${path}\nAgt-Outcome: succeeded\n`;
    const message =
      `${subject}\n\nAgt-Session: ${id}\nAgt-Head: ${head}\nAgt-Agent: claude\nAgt-Conversation: ${id}\n` +
      (n % 20 === 1 ? `Agt-Label: ${subject}\n` : call);
    const content = `step ${n} of ${id}\n`;
    return (
      `commit refs/agt/tip/${id}\nmark :${n}\nauthor ${who}\ncommitter ${who}\ndata ${message.length}\n${message}` +
      `from ${n === 1 ? first : `:${n - 1}`}\nmerge ${head}\n` +
      `M 100644 inline sandbox/${path}\ndata ${content.length}\n${content}\n`
    );
  };
  const all = Array.from({ length: snapshots }, (_, i) => commit(i + 1)).join('');
  const last = `reset refs/heads/agtsessions/${id}\nfrom :${snapshots}\n\n`;
  must(git, ['fast-import', '--quiet', '--force'], repository, all + last);
}

function print(name: string, value: number, bound: number, unit: string): void {
  if (value > bound) process.exitCode = 1;
  const isMissed = value > bound ? '  MISSED' : '';
  console.log(`${name.padEnd(44)}${value.toFixed(0).padStart(7)} ${unit} (at most ${bound})${isMissed}`);
}

async function timed(name: string, ask: (n: number) => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < runs; n++) {
    const begin = performance.now();
    await ask(n);
    times.push(performance.now() - begin);
  }
  print(name, median(times), 300, 'ms');
}

async function serve(program: readonly string[]): Promise<{ address: string; child: ChildProcess }> {
  const [file = '', ...args] = [...program, 'ui'];
  const child = spawn(file, args, { cwd: repository, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const address = await new Promise<string>((resolve) => {
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
  });
  return { address, child };
}

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}

async function run(words: readonly string[], more: string): Promise<unknown> {
  const body = JSON.stringify({ session: words[2], words: [...words, more, '--json'] });
  const headers = { origin: new URL(address).origin };
  const answer = await fetch(`${address}run`, { method: 'POST', headers, body });
  const { json, ...rest } = (await answer.json()) as { json?: unknown };
  if (json === undefined) throw new Error(JSON.stringify(rest));
  return json;
}

/** Reads so many updates of the list, as a page does; `seen` gets the number of each. */
async function updates(url: string, count: number, seen?: (n: number) => void): Promise<void> {
  const { body } = await fetch(`${url}events`);
  let n = 0;
  for await (const bytes of body ?? [])
    for (const _ of Buffer.from(bytes)
      .toString('latin1')
      .matchAll(/event: sessions/g)) {
      n += 1;
      seen?.(n);
      if (n === count) return;
    }
}

/** The server asks a stand-in for the list, which prints the real one again and again. */
async function memory(count: number): Promise<void> {
  const line = join(place, 'line.json');
  writeFileSync(line, must(agt, ['list', '--json'], repository));
  const program = join(place, 'agt.cjs');
  const lines = `const line = JSON.stringify(JSON.parse(require('node:fs').readFileSync(${JSON.stringify(line)}, 'utf8')));
setInterval(() => process.stdout.write(line + '\\n'), 4);`;
  writeFileSync(
    program,
    `if (process.argv.includes('--watch')) {\n${lines}\n} else require(${JSON.stringify(main)});\n`,
  );
  const served = await serve([process.execPath, program]);
  const bytes: number[] = [];
  const kilobytes = () =>
    Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${served.child.pid}/status`, 'utf8'))?.[1]);
  // The heap of Node grows until about the 3,000th.
  await updates(
    served.address,
    4 * count,
    (n) => n >= 3 * count && n % count === 0 && bytes.push(kilobytes()),
  );
  served.child.kill();
  const [before = 0, after = 0] = bytes;
  print(`memory of the server over ${count} updates`, (after - before) / 1000, 5, 'MB more');
}
