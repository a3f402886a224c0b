/**
 * Runs git on the user's terminal: git itself decides about colours, pager, language and exit code. agt waits for it, and
 * leaves an interrupt from the terminal to git and its pager.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { cannotRun, type Git } from './git.ts';
import { traceCommand } from './trace.ts';

/** Returns git's exit code. */
export function runGitOnTerminal(git: Git, args: readonly string[]): Promise<number> {
  traceCommand(git.env, git.path, args);
  const env = { ...git.env, ...git.userLocale };
  const listeners = process.listeners('SIGINT') as NodeJS.SignalsListener[];
  const ignore = () => undefined;
  process.removeAllListeners('SIGINT').on('SIGINT', ignore);
  return new Promise<number>((resolve, reject) => {
    const child = spawn(git.path, args, { cwd: git.cwd, env, stdio: 'inherit' });
    child.on('error', (error) => reject(cannotRun(git, error)));
    child.on('close', (code, signal) => {
      // A pager that the user quits ends git by a signal. As in a shell, that is an exit code and no error.
      resolve(code ?? 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0)));
    });
  }).finally(() => {
    process.off('SIGINT', ignore);
    for (const listener of listeners) process.on('SIGINT', listener);
  });
}
