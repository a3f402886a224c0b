/** A command that agt runs for the user: its streams, signals and exit code are its own. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { hasProc } from '../disk/platform.ts';
import { childrenOf, isInForeground, isStopped } from '../disk/processes.ts';
import { AgtError, errorCode, isAgtError, systemReason } from '../errors.ts';
import { isTerminal } from '../process/streams.ts';

export interface CommandLine {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Put before each line of its output. Then it reads nothing from standard input. */
  readonly prefix?: string | undefined;
  /** The program starts the command as its child, and passes no signals on. */
  readonly signalsToChild?: boolean;
}

export interface CommandEnd {
  /** As a shell gives it: 128 and the number of the signal, if one has killed the command. */
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | undefined;
}

export interface RunningCommand {
  readonly pid: number | undefined;
  /** Rejects with an AgtError if the command could not be started. */
  readonly ended: Promise<CommandEnd>;
  readonly kill: (signal: NodeJS.Signals) => void;
}

export function startCommand({ words, cwd, env, prefix, signalsToChild }: CommandLine): RunningCommand {
  const [program = '', ...args] = words;
  const stdio: StdioOptions = prefix === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child: ChildProcess = spawn(program, args, { cwd, env: { ...env, PWD: cwd }, stdio });
  if (prefix !== undefined) {
    printWithPrefix(child.stdout, process.stdout, prefix);
    printWithPrefix(child.stderr, process.stderr, prefix);
  }
  const followStops = followWhenStopped(child.pid);
  const ended = new Promise<CommandEnd>((resolve, reject) => {
    child.on('error', (error) => reject(cannotStart(program, error)));
    // With pipes, its output is complete only at `close`.
    child.on(prefix === undefined ? 'exit' : 'close', (code, signal) => {
      const number = signal === null ? 0 : constants.signals[signal as NodeJS.Signals];
      resolve({ exitCode: code ?? 128 + number, signal: (signal as NodeJS.Signals | null) ?? undefined });
    });
  }).finally(() => clearInterval(followStops));
  const kill = (signal: NodeJS.Signals) => {
    if (signalsToChild !== true || !signalChildren(child.pid, signal)) child.kill(signal);
  };
  return { pid: child.pid, ended, kill };
}

const NEWLINE = 0x0a;

/** Line by line, so that several commands share a terminal. */
function printWithPrefix(from: Readable | null, to: Writable, prefix: string): void {
  if (from === null) return;
  const start = Buffer.from(prefix);
  let rest: Buffer[] = [];
  const print = (line: readonly Buffer[]) => {
    // The next bytes wait in the pipe until the reader has taken these.
    if (to.write(Buffer.concat([start, ...line]))) return;
    from.pause();
    to.once('drain', () => from.resume());
  };
  to.setMaxListeners(0);
  // Without a reader the command ends by SIGPIPE, as it would in a pipeline of its own.
  to.on('error', () => from.destroy());
  from.on('data', (bytes: Buffer) => {
    let begin = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, begin)) {
      print([...rest, bytes.subarray(begin, end + 1)]);
      rest = [];
      begin = end + 1;
    }
    if (begin < bytes.length) rest.push(bytes.subarray(begin));
  });
  from.on('end', () => {
    if (rest.length > 0) print([...rest, Buffer.from('\n')]);
  });
}

/** False if it has none. */
function signalChildren(pid: number | undefined, signal: NodeJS.Signals): boolean {
  const children = pid === undefined ? [] : childrenOf(pid);
  for (const child of children) process.kill(child, signal);
  return children.length > 0;
}

/** Exit codes of a shell. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export function isNotStarted(error: unknown): error is AgtError {
  return isAgtError(error) && [NOT_FOUND, NOT_EXECUTABLE].includes(error.exitCode);
}

function cannotStart(program: string, error: Error): AgtError {
  const exitCode = errorCode(error) === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE;
  return new AgtError(`cannot run "${program}": ${systemReason(error)}`, { exitCode, cause: error });
}

const STOP_POLL_MS = 100;
/** A start of ps each time. */
const SLOW_STOP_POLL_MS = 1000;

/**
 * Some programs stop only themselves on Ctrl-Z, and the shell waits for agt. So agt stops with its command. A `fg` of the
 * shell continues both.
 */
function followWhenStopped(pid: number | undefined): NodeJS.Timeout | undefined {
  if (pid === undefined || !isTerminal(0)) return undefined;
  let wasStopped = false;
  const look = () => {
    const isStoppedNow = isStopped(pid);
    // Just after a `fg` the command may not have gone on yet.
    if (isStoppedNow && wasStopped) process.kill(process.pid, 'SIGSTOP');
    wasStopped = isStoppedNow && !wasStopped;
  };
  return setInterval(look, hasProc() ? STOP_POLL_MS : SLOW_STOP_POLL_MS);
}

/** Signals that a person or a supervisor sends to the one process that they know. */
const PASSED_ON = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGCONT'] as const;
const OF_THE_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT'];
const ENDING: readonly string[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/**
 * Passes signals on to the commands, until it is released. Call it before they start: a signal in between would end agt
 * and leave them running. `onEnding` is called for signals that usually end them.
 */
export function passSignals(commands: () => readonly RunningCommand[], onEnding?: () => void): () => void {
  const pass = (signal: NodeJS.Signals) => {
    // Ctrl-C reaches the command without agt, and twice would be another command to many programs.
    const hasIt = OF_THE_TERMINAL.includes(signal) && isInForeground();
    if (!hasIt) for (const command of commands()) command.kill(signal);
    if (ENDING.includes(signal)) onEnding?.();
  };
  for (const signal of PASSED_ON) process.on(signal, pass);
  return () => {
    for (const signal of PASSED_ON) process.off(signal, pass);
  };
}

/** Starts a command and passes signals on to it until `finish` is done. */
export async function withCommand<T>(
  line: CommandLine,
  finish: (command: RunningCommand) => Promise<T>,
): Promise<T> {
  const commands: RunningCommand[] = [];
  const release = passSignals(() => commands);
  try {
    const command = startCommand(line);
    commands.push(command);
    return await finish(command);
  } finally {
    release();
  }
}

/** The exit code of the command. If such a signal has killed the command, it ends agt as well, as in a shell. */
export function endAs({ exitCode, signal }: CommandEnd): number {
  if (signal !== undefined && ENDING.includes(signal)) process.kill(process.pid, signal);
  return exitCode;
}
