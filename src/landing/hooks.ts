/** Runs the hooks of a merge and the editor as git would. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { AgtError } from '../errors.ts';
import { cannotRun, type Git, gitAnswer, gitText, runGit } from '../git/run/git.ts';
import { withUsersPrograms } from '../git/run/programs.ts';
import { endProgress } from '../process/progress.ts';

export type Hook = 'pre-merge-commit' | 'prepare-commit-msg' | 'commit-msg' | 'post-merge';

/** Whether there is such a hook, as a file or in the configuration (git 2.54). `git` runs in the worktree. */
export async function hasHook(git: Git, hook: Hook): Promise<boolean> {
  const users = withUsersPrograms(git);
  const path = resolve(git.cwd, await gitText(users, ['rev-parse', '--git-path', `hooks/${hook}`]));
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    const events = await gitAnswer(users, ['config', '--get-regexp', '^hook\\..*\\.event$']);
    return (events ?? '').split('\n').some((line) => line.endsWith(` ${hook}`));
  }
}

/** Returns the exit code of the hook; 0 if there is none. Its output goes to the terminal. */
export async function runHook(
  git: Git,
  hook: Hook,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const words = ['hook', 'run', '--ignore-missing', hook, ...(args.length === 0 ? [] : ['--', ...args])];
  // git connects the hook's standard output to its own standard error.
  const run = await runGit(withUsersPrograms(git), words, { env, stdout: 'ignore', stderr: 'inherit' });
  return run.exitCode;
}

/** @throws AgtError if the hook refuses. */
export async function requireHook(...call: Parameters<typeof runHook>): Promise<void> {
  const [, hook] = call;
  if ((await runHook(...call)) === 0) return;
  throw new AgtError(`the ${hook} hook refused, and nothing was accepted`, {
    hints: hook === 'prepare-commit-msg' ? [] : ['accept without that hook: --no-verify'],
  });
}

/** Opens the user's editor and waits for it. */
export async function editFile(git: Git, file: string): Promise<void> {
  const editor = await gitText(git, ['var', 'GIT_EDITOR']);
  const env = { ...withUsersPrograms(git).env, ...git.userLocale };
  endProgress();
  const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { cwd: git.cwd, env, stdio: 'inherit' });
  const code = await new Promise<number | null>((done, fail) => {
    child.on('error', (error) => fail(cannotRun(git, error)));
    child.on('close', done);
  });
  if (code !== 0) throw new AgtError(`the editor "${editor}" failed, and nothing was accepted`);
}
