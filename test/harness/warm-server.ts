/**
 * A process that runs one agt command after the other, so that a test does not pay a start of Node for each. It runs the
 * bundles of the executable, afresh for every command, on standard streams that are files (test/harness/warm-agt.ts).
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { asCommonJsFunction } from '../../src/process/load-agtmode.ts';
import type { Question } from './warm-agt.ts';

const [, , dist = '', directory = ''] = process.argv;
const executable = join(dist, 'agt');
const requireHere = createRequire(executable);
const assets = new Map<string, ArrayBuffer>();
const scripts = new Map<string, Script>();

const sea = {
  isSea: () => true,
  getRawAsset(name: string): ArrayBuffer {
    const known = assets.get(name) ?? new Uint8Array(readFileSync(join(dist, name))).buffer;
    assets.set(name, known);
    return known;
  },
};

/** Compiles each bundle once. */
function CompiledScript(source: string, options: { filename: string }): Script {
  const known = scripts.get(options.filename) ?? new Script(source, options);
  scripts.set(options.filename, known);
  return known;
}

const requireOwn = (name: string) => own[name] ?? requireHere(name);
const own: Record<string, unknown> = {
  'node:sea': sea,
  'node:vm': { Script: CompiledScript },
  'node:module': { createRequire: () => requireOwn },
};
const main = new Script(asCommonJsFunction(readFileSync(join(dist, 'main.cjs'), 'latin1')));

Object.defineProperty(process, 'execPath', { value: executable });
// agt then starts git as its child.
Object.defineProperty(process, 'execve', { value: undefined });
const { exit } = process;

/** On descriptor 0, the lowest that is free, unless another thread of Node has opened a file in between. */
function openInput(): void {
  const input = join(directory, 'in');
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  closeSync(0);
  for (let fd = openSync(input, 'r'); fd !== 0; fd = openSync(input, 'r')) {
    closeSync(fd);
    Atomics.wait(sleeper, 0, 0, 1);
  }
}

async function answer({ name, args, cwd, env }: Question): Promise<number> {
  openInput();
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [name, name, ...args];
  const before = new Map(process.eventNames().map((name) => [name, process.listeners(name as 'exit')]));
  const exited = new Promise<void>((resolve) => {
    process.exit = ((code?: number) => {
      process.exitCode = code ?? process.exitCode;
      resolve();
    }) as typeof process.exit;
  });
  const module: { exports: { finished?: Promise<void> } } = { exports: {} };
  main.runInThisContext()(module.exports, requireOwn, module, executable, dist);
  await Promise.race([module.exports.finished, exited]);
  process.chdir('/'); // the test may unmount the directory
  endChildren();
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  for (const name of process.eventNames())
    for (const listener of process.listeners(name as 'exit'))
      if (!before.get(name)?.includes(listener)) process.off(name, listener);
  return Number(code);
}

/** Those that end with agt, because its end closes their input. The others have a process group of their own. */
function endChildren(): void {
  const groupOf = (pid: string) =>
    readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')[2];
  const own = groupOf('self');
  for (const task of readdirSync('/proc/self/task'))
    for (const pid of readFileSync(`/proc/self/task/${task}/children`, 'latin1').trim().split(' '))
      try {
        if (groupOf(pid) === own) process.kill(Number(pid), 'SIGKILL');
      } catch {
        // it has ended
      }
}

const questions = openSync(join(directory, 'questions'), 'r');
const answers = openSync(join(directory, 'answers'), 'w');
const buffer = Buffer.alloc(1 << 16);
let text = '';
for (;;) {
  const length = readSync(questions, buffer);
  if (length === 0) exit();
  text += buffer.toString('latin1', 0, length);
  if (!text.endsWith('\n')) continue;
  const question = JSON.parse(Buffer.from(text, 'latin1').toString());
  text = '';
  writeSync(answers, `${await answer(question)}\n`);
}
