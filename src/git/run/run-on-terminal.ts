/**
 * Runs git on the user's terminal: git itself decides about colours, pager, language and exit code. agt waits for it, and
 * leaves an interrupt from the terminal to git and its pager.
 */
import { constants } from 'node:os';
import { isAgtError } from '../../errors.ts';
import { type Git, runGit } from './git.ts';

/** Returns git's exit code. */
export async function runGitOnTerminal(git: Git, args: readonly string[]): Promise<number> {
  const listeners = process.listeners('SIGINT') as NodeJS.SignalsListener[];
  const ignore = () => undefined;
  process.removeAllListeners('SIGINT').on('SIGINT', ignore);
  try {
    const streams = { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' } as const;
    return (await runGit(git, args, streams)).exitCode;
  } catch (error) {
    // A pager that the user quits ends git by a signal. As in a shell, that is an exit code and no error.
    if (isAgtError(error) && error.signal !== undefined) return 128 + constants.signals[error.signal];
    throw error;
  } finally {
    process.off('SIGINT', ignore);
    for (const listener of listeners) process.on('SIGINT', listener);
  }
}
