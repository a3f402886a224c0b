/**
 * Runs git for the user to look at: the terminal, colours, pager, language and exit code are git's own. This process
 * waits, and leaves the terminal's interrupts to git and its pager.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { cannotRun, type Git } from './git.ts';
import { traceCommand } from './trace.ts';

/** Returns git's exit code. */
export function runGitOnTerminal(git: Git, args: readonly string[]): Promise<number> {
  traceCommand(git.env, git.path, args);
  const env = { ...git.env, ...git.userLocale };
  const interrupts = process.listeners('SIGINT') as NodeJS.SignalsListener[];
  const ignore = () => undefined;
  process.removeAllListeners('SIGINT').on('SIGINT', ignore);
  return new Promise<number>((resolve, reject) => {
    const child = spawn(git.path, args, { cwd: git.cwd, env, stdio: 'inherit' });
    child.on('error', (error) => reject(cannotRun(git, error)));
    child.on('close', (code, signal) => {
      const bySignal = 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0));
      // A reader that has seen enough is no failure, as in a pipe of git's.
      resolve(code ?? bySignal);
    });
  }).finally(() => {
    process.off('SIGINT', ignore);
    for (const listener of interrupts) process.on('SIGINT', listener);
  });
}
