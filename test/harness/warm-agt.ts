/** Runs commands of agt in one process that stays, one for each test file: test/harness/warm-server.ts. */
import { execFileSync, spawn } from 'node:child_process';
import { ftruncateSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { once } from '../../src/once.ts';

export interface Question {
  /** agt or git. */
  readonly name: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Server {
  readonly directory: string;
  /** Standard output and standard error. */
  readonly streams: readonly [number, number];
  readonly questions: number;
  readonly answers: number;
}

let directoryOf: () => string;

const server = once((): Server => {
  const directory = directoryOf();
  const pipe = (name: string) => join(directory, name);
  execFileSync('mkfifo', [pipe('questions'), pipe('answers')]);
  writeFileSync(pipe('in'), '');
  const streams = [openSync(pipe('out'), 'a+'), openSync(pipe('err'), 'a+')] as const;
  const dist = join(import.meta.dirname, '../../dist');
  const program = join(process.env['AGT_TEST_ROOT'] ?? '', 'warm-server.mjs');
  // The shell answers if the server dies.
  const script = '"$0" "$1" "$2" "$3"; echo died 1<>"$3/answers"';
  const args = ['-c', script, process.execPath, program, dist, directory];
  spawn('sh', args, { stdio: ['ignore', ...streams] }).unref();
  return {
    directory,
    streams,
    questions: openSync(pipe('questions'), 'w'),
    answers: openSync(pipe('answers'), 'r'),
  };
});

/** Returns what the executable would: exit code and output, as latin1. */
export function runWarm(question: Question, input: string | Buffer, makeDirectory: () => string) {
  directoryOf = makeDirectory;
  const { directory, streams, questions, answers } = server();
  writeFileSync(join(directory, 'in'), input);
  writeSync(questions, `${JSON.stringify(question)}\n`);
  const answer = Buffer.alloc(64);
  const text = answer.toString('latin1', 0, readSync(answers, answer)).trim();
  const [stdout = '', stderr = ''] = ['out', 'err'].map((name) =>
    readFileSync(join(directory, name), 'latin1'),
  );
  for (const stream of streams) ftruncateSync(stream);
  if (!/^\d+$/.test(text))
    throw new Error(`agt ${question.args.join(' ')}: the server ${text}\n${stdout}${stderr}`);
  return { exitCode: Number(text), stdout, stderr };
}
