/**
 * Becomes git. After `execve` nothing of agt is left: terminal, signals, exit code and output are git's own. Without
 * execve, and where the caller gave more descriptors than the standard ones, git runs as a child that inherits everything.
 *
 * Node ignores SIGPIPE and SIGXFSZ from its start. Ignored signals survive execve; handled ones do not, so each gets a
 * handler. Node decodes arguments and environment as UTF-8 and replaces other bytes; those come from /proc, and sh passes
 * them on. Node also raises the soft limit on open files to the hard one; git keeps that.
 */
import { type StdioOptions, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgtError, attempt, EXIT, errorCode } from '../../errors.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { withInherited } from './inherited-descriptors.ts';
import { traceCommand } from './trace.ts';

/** Does not return if there is execve; otherwise returns git's exit code. */
export async function becomeGit(
  git: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const stdio = withInherited(STREAMS);
  const inChild = process.execve === undefined || stdio.length > STREAMS.length;
  if (inChild) return runAsChild(git, args, env, undefined, stdio);
  traceCommand(env, git, args);
  for (const signal of IGNORED) process.on(signal, () => {});
  const { program, words } = programFor(git, args, env);
  try {
    process.execve?.(program, words, env as Record<string, string>);
  } catch (error) {
    throw cannotRun(git, error);
  }
  return EXIT.git;
}

const STREAMS = ['inherit', 'inherit', 'inherit'] as const;

/** Node ignores these from its start. */
const IGNORED = ['SIGPIPE', 'SIGXFSZ'] as const;

/** Ends this process as the signal does, also one that Node ignores: a signal that has lost its handler ends a process. */
export function endBySignal(signal: NodeJS.Signals): void {
  const handler = () => {};
  for (const name of IGNORED) process.on(name, handler).off(name, handler);
  process.kill(process.pid, signal);
}

/** The program to start, with argv[0]: git, or a script that passes bytes on which Node has replaced. */
function programFor(git: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const environmentBytes = rawEnvironment(env);
  const argumentBytes = rawArguments(args);
  if (environmentBytes === undefined && argumentBytes === undefined)
    return { program: git, words: [git, ...args] };
  const script = writeScript(
    git,
    argumentBytes ?? args.map(asBytes),
    environmentBytes ?? Object.entries(env).map(([name, value]) => asBytes(`${name}=${value ?? ''}`)),
  );
  return { program: '/bin/sh', words: ['sh', script] };
}

function cannotRun(git: string, cause: unknown): AgtError {
  const reason = errorCode(cause) || (cause as Error).message;
  return new AgtError(`cannot run "${git}": ${reason}`, { exitCode: EXIT.git, cause });
}

/** Signals that a supervisor sends to the one process that it knows. */
const FORWARDED = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'] as const;

/** Forwards signals to git. A signal that ends git ends this process too. `clean` is called when git is done. */
export function runAsChild(
  git: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  clean: () => void = () => {},
  stdio: StdioOptions = withInherited(STREAMS),
): Promise<number> {
  traceCommand(env, git, args);
  const {
    program,
    words: [argv0, ...words],
  } = programFor(git, args, env);
  return new Promise((done, fail) => {
    // The handlers come first: a signal in between would end this process and leave git running.
    const forward = (signal: NodeJS.Signals) => void child.kill(signal);
    for (const signal of FORWARDED) process.on(signal, forward);
    const child = spawn(program, words, { argv0, env, stdio });
    child.on('error', (error) => {
      clean();
      fail(cannotRun(git, error));
    });
    child.on('exit', (exitCode, signal) => {
      clean();
      for (const name of FORWARDED) process.off(name, forward);
      if (signal !== null) endBySignal(signal);
      done(exitCode ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0));
    });
  });
}

/** Stands in decoded text for bytes that are not UTF-8. */
const REPLACEMENT_CHARACTER = '\uFFFD';

/** The arguments as bytes (latin1), or undefined if Node's decoding replaced none. */
function rawArguments(args: readonly string[]): string[] | undefined {
  if (!args.some((arg) => arg.includes(REPLACEMENT_CHARACTER))) return undefined;
  const known = readProc('/proc/self/cmdline');
  if (known === undefined)
    throw new AgtError('git gets no argument that is not UTF-8 on this system: there is no /proc', {
      hints: ['call git itself, by its path'],
      exitCode: EXIT.git,
    });
  const given = Map.groupBy(known, (bytes) => Buffer.from(bytes, 'latin1').toString());
  return args.map((arg) => {
    if (!arg.includes(REPLACEMENT_CHARACTER)) return asBytes(arg);
    // Two different words may decode to the same text: those are taken in order.
    const words = given.get(arg) ?? [];
    return (words.length > 1 ? words.shift() : words[0]) ?? asBytes(arg);
  });
}

/** An argument of which Node's decoding has replaced bytes. */
export function damagedArgument(args: readonly string[]): string | undefined {
  const bytes = rawArguments(args);
  return args.find((arg, i) => bytes !== undefined && bytes[i] !== asBytes(arg));
}

/** The environment as bytes (latin1), or undefined if Node's decoding replaced none. */
function rawEnvironment(env: NodeJS.ProcessEnv): string[] | undefined {
  const isReplaced = ([name, value]: [string, string | undefined]) =>
    name.includes(REPLACEMENT_CHARACTER) || value?.includes(REPLACEMENT_CHARACTER);
  if (!Object.entries(env).some(isReplaced)) return undefined;
  const known = readProc('/proc/self/environ');
  if (known === undefined) return undefined; // git gets what Node has read
  const added = Object.entries(env).filter(([name, value]) => value !== process.env[name]);
  return [...known, ...added.map(([name, value]) => asBytes(`${name}=${value}`))];
}

function readProc(path: string): string[] | undefined {
  return attempt(() => readFileSync(path, 'latin1').split('\0').slice(0, -1));
}

function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** A script that removes itself and becomes git. `env -i` passes variables whose names sh would not. */
function writeScript(git: string, args: readonly string[], environment: readonly string[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'agt-'));
  const path = join(dir, 'become');
  const words = [...environment, asBytes(git), ...args].map(shellQuote);
  const removal = `/bin/rm -f ${shellQuote(path)}; /bin/rmdir ${shellQuote(dir)}`;
  writeFileSync(path, `${removal}\nexec /usr/bin/env -i ${words.join(' ')}\n`, 'latin1');
  return path;
}
