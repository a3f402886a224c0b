/** Captures a session or a folder by another process: git mode holds nothing that can capture. */
import { spawnSync } from 'node:child_process';
import { realpathSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EXIT } from '../../errors.ts';
import { ownCommand, startedByGuard } from '../../process/invocation.ts';
import { isTerminal } from '../../process/streams.ts';
import type { GuardedSession } from './sessions.ts';

interface Snapshot {
  readonly label: string;
  /** Commits that it keeps reachable. */
  readonly keep: readonly string[];
}

/** Most autocommits of others end within this time; a longer wait is worth a line. */
const SHORT_SECONDS = 2;

/** Longer than the first capture of a huge folder takes, and still an end if the other agt waits for this one. */
const LONGEST_SECONDS = 1800;

/** Waits for another agt at work. Returns readable paths of repositories whose commits no snapshot holds. */
export function captureSession(
  session: GuardedSession,
  snapshot: Snapshot,
  env: NodeJS.ProcessEnv,
): string[] {
  let run = autocommit(session, snapshot, SHORT_SECONDS, env);
  if (run.status === EXIT.busy) {
    if (isTerminal(2)) print(`agt: waiting for another agt that is working on session "${session.id}"`);
    run = autocommit(session, snapshot, LONGEST_SECONDS, env);
  }
  const lines = run.stderr.split('\n');
  if (run.status === EXIT.done) {
    // Snapshots that were thinned to stay within the budget are gone: that is worth a line.
    const thinned = lines.find((line) => /^warning: .*\bagt\.budget\b/.test(line));
    if (thinned !== undefined) print(thinned);
    return lines.flatMap((line) => NESTED.exec(line)?.[1] ?? []);
  }
  const problem = lines.find((line) => /^(error|warning): /.test(line)) ?? `exit code ${run.status}`;
  warnNotCaptured(problem.replace(/^(error|warning): /, ''));
  return [];
}

/** A warning of agt autocommit. */
const NESTED = /: sandbox\/(.+)\/\.git: belongs to a nested repository$/;

export function warn(text: string): void {
  print(`warning: agt: ${text}`);
}

export function warnNotCaptured(reason: string): void {
  warn(`the session was not captured before this command: ${reason}`);
}

/** Its output would be among git's, so only its errors are read. */
function autocommit(
  { id, sandbox, commonDir, isReplaced, isFolder }: GuardedSession,
  { label, keep }: Snapshot,
  waitSeconds: number,
  env: NodeJS.ProcessEnv,
): { status: number | null; stderr: string } {
  const [program = '', ...scripts] = ownCommand();
  const kept = keep.flatMap((commit) => ['--keep', commit]);
  const command = isFolder ? ['snapshot'] : ['autocommit', '--session', id, ...kept];
  const options = ['--label', label, '--if-changed', '--wait', String(waitSeconds)];
  const words = [...scripts.map((script) => realpathSync(script)), ...command, ...options];
  const run = spawnSync(program, words, {
    argv0: join(dirname(program), 'agt'), // without /proc, Linux finds the executable by this path
    cwd: isReplaced ? commonDir : sandbox,
    env: startedByGuard(env),
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (run.error !== undefined) throw run.error;
  return run;
}

function print(line: string): void {
  writeSync(2, `${line}\n`);
}
