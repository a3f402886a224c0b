/**
 * `hooks/.running-<pid>`: a hook that is at work, for as long as it is. An agent kills a hook that takes longer than it
 * allows, and then nothing else tells of it. `agt status` finds the note and writes the failure down. The note is a link
 * that leads nowhere: the system makes one in a single call, and its target is the text.
 */
import { readdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../disk/lock-owner.ts';
import { AgtError } from '../errors.ts';
import { shellQuote } from '../git/run/trace.ts';
import { type LoggedFailure, logFailure } from './hooks-log.ts';
import { hooksDirectory, stateDirectory } from './state-directory.ts';

const PREFIX = '.running-';

type RunningHook = Pick<LoggedFailure, 'at' | 'tool' | 'event' | 'cwd'>;

/** Only for hooks that agt has installed. Returns what removes the note again. */
export function noteRunning(env: NodeJS.ProcessEnv, hook: RunningHook): () => void {
  const stateDir = stateDirectory(env);
  if (stateDir === undefined) return () => {};
  const path = join(hooksDirectory(stateDir), `${PREFIX}${process.pid}`);
  try {
    symlinkSync(JSON.stringify(hook), path);
  } catch {
    return () => {};
  }
  return () => {
    try {
      unlinkSync(path);
    } catch {
      // the hooks were uninstalled meanwhile
    }
  };
}

/** Writes those down that were killed. */
export function logKilled(env: NodeJS.ProcessEnv): void {
  const stateDir = stateDirectory(env);
  if (stateDir === undefined) return;
  for (const path of runningHooks(stateDir)) {
    if (isAlive(Number(path.slice(path.lastIndexOf('-') + 1)))) continue;
    try {
      const hook = JSON.parse(readlinkSync(path)) as RunningHook;
      unlinkSync(path);
      logFailure(env, { ...hook, pending: true }, killed(hook.cwd));
    } catch {
      // another agt was faster
    }
  }
}

function killed(cwd: string): AgtError {
  return new AgtError('agt was killed before its snapshot was complete; the next one has the changes', {
    hints: [`to take one now: agt -C ${shellQuote(cwd)} snapshot`],
  });
}

/** Paths. */
export function runningHooks(stateDir: string): string[] {
  const directory = hooksDirectory(stateDir);
  try {
    const names = readdirSync(directory).filter((name) => name.startsWith(PREFIX));
    return names.map((name) => join(directory, name));
  } catch {
    return [];
  }
}
