/**
 * Becomes git. After `execve` nothing of agt is left: the terminal, the signals, the exit code and the output are
 * git's own. Where the platform has no execve, git runs as a child with everything inherited.
 *
 * Traps: Node starts with SIGPIPE and SIGXFSZ ignored, and ignored signals survive execve, handled ones do not. Node
 * decodes arguments and environment as UTF-8, lossily; bytes that are not are taken from /proc and passed by sh.
 * Left as Node makes it: the soft limit on open files is raised to the hard one.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgtError, EXIT, errorCode } from '../../errors.ts';
import { traceCommand } from './trace.ts';

/** Does not return where execve exists; otherwise gives git's exit code. */
export async function becomeGit(
  git: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  traceCommand(env, git, args);
  if (process.execve === undefined) return runAsChild(git, args, env);
  for (const signal of ['SIGPIPE', 'SIGXFSZ'] as const) process.on(signal, () => {});
  const raw = rawEnvironment(env);
  const words = rawArguments(args);
  try {
    if (raw === undefined && words === undefined) {
      process.execve(git, [git, ...args], env as Record<string, string>);
    } else {
      const script = writeScript(git, words ?? args.map(asBytes), raw ?? environmentWords(env));
      process.execve('/bin/sh', ['sh', script], env as Record<string, string>);
    }
  } catch (error) {
    throw new AgtError(`cannot run ${git}: ${errorCode(error) || (error as Error).message}`, {
      exitCode: EXIT.git,
      cause: error,
    });
  }
  return EXIT.git;
}

/** Signals that a supervisor sends to the one process that it knows. */
const PASSED = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'] as const;

/** Signals reach git; what ends git ends this process in the same way. */
function runAsChild(git: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((done, fail) => {
    // Listening first: a signal in between would end this process and leave git running without it.
    const pass = (signal: NodeJS.Signals) => void child.kill(signal);
    for (const signal of PASSED) process.on(signal, pass);
    const child = spawn(git, args, { env, stdio: 'inherit' });
    child.on('error', (error) =>
      fail(new AgtError(`cannot run ${git}: ${errorCode(error)}`, { exitCode: EXIT.git, cause: error })),
    );
    child.on('exit', (exitCode, signal) => {
      for (const name of PASSED) process.off(name, pass);
      if (signal !== null) process.kill(process.pid, signal);
      done(exitCode ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0));
    });
  });
}

const LOST = '\uFFFD';

/** The words as bytes (latin1), or undefined where Node's decoding lost nothing. */
function rawArguments(args: readonly string[]): string[] | undefined {
  if (!args.some((arg) => arg.includes(LOST))) return undefined;
  const given = readProc('/proc/self/cmdline');
  const known = new Map(given.map((bytes) => [Buffer.from(bytes, 'latin1').toString('utf8'), bytes]));
  // A repeated lossy spelling may stand for two different words: take those in order.
  const queues = new Map<string, string[]>();
  for (const bytes of given) {
    const decoded = Buffer.from(bytes, 'latin1').toString('utf8');
    queues.set(decoded, [...(queues.get(decoded) ?? []), bytes]);
  }
  return args.map((arg) =>
    arg.includes(LOST) ? (queues.get(arg)?.shift() ?? known.get(arg) ?? asBytes(arg)) : asBytes(arg),
  );
}

function rawEnvironment(env: NodeJS.ProcessEnv): string[] | undefined {
  const lost = Object.entries(env).some(([name, value]) => name.includes(LOST) || value?.includes(LOST));
  return lost ? readProc('/proc/self/environ') : undefined;
}

function readProc(path: string): string[] {
  try {
    return readFileSync(path, 'latin1').split('\0').slice(0, -1);
  } catch {
    return [];
  }
}

function environmentWords(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).map(([name, value]) => asBytes(`${name}=${value ?? ''}`));
}

function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** A script that removes itself and becomes git. `env -i` passes names that sh would not. */
function writeScript(git: string, args: readonly string[], environment: readonly string[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'agt-'));
  const path = join(dir, 'become');
  const words = [...environment, asBytes(git), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const clean = `/bin/rm -f ${quote(path)}; /bin/rmdir ${quote(dir)}`;
  writeFileSync(path, `${clean}\nexec /usr/bin/env -i ${words.join(' ')}\n`, 'latin1');
  return path;
}

function quote(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
