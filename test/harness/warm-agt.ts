/** Runs commands of agt in one process that stays, one for each test file: test/harness/warm-server.ts. */
import { execFileSync, spawn } from 'node:child_process';
import {
  constants,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../src/errors.ts';
import { DEADLINE_MS } from './child-deadline.ts';
import { killProcesses, processesOf } from './processes.ts';

export interface Question {
  /** agt or git. */
  readonly name: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Server {
  readonly directory: string;
  readonly pid: number;
  /** Standard output and standard error. */
  readonly streams: readonly [number, number];
  readonly questions: number;
  readonly answers: number;
}

let running: Server | undefined;

function start(directory: string): Server {
  const pipe = (name: string) => join(directory, name);
  execFileSync('mkfifo', [pipe('questions'), pipe('answers')]);
  writeFileSync(pipe('in'), '');
  const streams = [openSync(pipe('out'), 'a+'), openSync(pipe('err'), 'a+')] as const;
  const dist = join(import.meta.dirname, '../../dist');
  const program = join(process.env['AGT_TEST_ROOT'] ?? '', 'warm-server.mjs');
  // The shell answers if the server dies.
  const script = '"$0" "$1" "$2" "$3"; echo "died: exit code $?" 1<>"$3/answers"';
  const args = ['-c', script, process.execPath, program, dist, directory];
  const child = spawn('sh', args, { stdio: ['ignore', ...streams] });
  child.unref();
  return {
    directory,
    pid: child.pid ?? 0,
    streams,
    questions: openSync(pipe('questions'), 'w'),
    answers: openSync(pipe('answers'), constants.O_RDWR | constants.O_NONBLOCK),
  };
}

/** Undefined after the deadline. */
function readAnswer(answers: number): string | undefined {
  const answer = Buffer.alloc(64);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (const end = Date.now() + DEADLINE_MS; Date.now() < end; Atomics.wait(sleeper, 0, 0, 1))
    try {
      return answer.toString('latin1', 0, readSync(answers, answer)).trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  return undefined;
}

/** Returns what the executable would: exit code and output, as latin1. */
export function runWarm(question: Question, input: string | Buffer, makeDirectory: () => string) {
  running ??= start(makeDirectory());
  const { directory, pid, streams, questions, answers } = running;
  writeFileSync(join(directory, 'in'), input);
  // If the server has died, the shell has answered.
  attempt(() => writeSync(questions, `${JSON.stringify(question)}\n`));
  const text = readAnswer(answers);
  const [stdout = '', stderr = ''] = ['out', 'err'].map((name) =>
    readFileSync(join(directory, name), 'latin1'),
  );
  for (const stream of streams) ftruncateSync(stream);
  if (/^\d+$/.test(text ?? '')) return { exitCode: Number(text), stdout, stderr };
  running = undefined;
  if (text === undefined) {
    const processes = processesOf(pid);
    killProcesses(pid);
    const command = `${question.name} ${question.args.join(' ')}`;
    throw new Error(`killed after ${DEADLINE_MS / 1000} seconds: ${command}\n${processes}\n${stderr}`);
  }
  throw new Error(`agt ${question.args.join(' ')}: the server ${text}\n${stdout}${stderr}`);
}
