/** A session that counts, and `agt bisect run` in it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, write } from '../harness/world.ts';

export interface Answer {
  session_id: string | null;
  folder: string | null;
  commit: string;
  name: string;
  prompt: string | null;
  tool: string | null;
  summary: string | null;
  last_good: string;
  candidates: string[];
  exit_code: number | null;
  output: string | null;
  files: { path: string; status: string }[];
  error?: string;
  hints?: string[];
}

export function bisect(cwd: string, options: readonly string[], command: string) {
  const words = ['bisect', 'run', '--json', ...options, '--', 'sh', '-c', command];
  const { exitCode, stdout, stderr } = agt(cwd, ...words);
  return { exitCode, stderr, answer: JSON.parse(Buffer.from(stdout, 'latin1').toString()) as Answer };
}

/** Snapshots in which `n` is 0 to `last`, each by a call of a tool. */
export function counted(last: number): TestSession {
  const session = makeSession({ n: '0\n', '.gitignore': 'ignored\n' });
  write(join(session.sandbox, 'ignored'), 'there\n');
  autocommit(session, '--label', 'prompt: count');
  for (let n = 1; n <= last; n++) {
    write(join(session.sandbox, 'n'), `${n}\n`);
    agtOk(session.repository, 'session', 'record', 's1', '--tool', 'Edit', '--summary', `n is ${n}`);
  }
  return session;
}

export const left = ({ repository }: TestSession) => readdirSync(`${repository}.agt`).sort();
