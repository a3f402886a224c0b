/** Makes the commit of an acceptance: hooks, editor, clean-up and signature as `git merge` and `git commit` do it. */
import { spawn } from 'node:child_process';
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AgtError, succeeds } from '../errors.ts';
import { cannotRun, FSYNC_ARGS, type Git, gitAnswer, gitText, runGit } from '../git/run/git.ts';
import { withUsersPrograms } from '../git/run/programs.ts';
import { endProgress } from '../process/progress.ts';
import type { Workbench } from './workbench.ts';

interface CommitRequest {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** As prepare-commit-msg gets it. */
  readonly source: 'message' | 'squash' | 'merge';
  readonly edit: boolean;
  readonly verify: boolean;
}

/** `git` runs in the worktree that has the branch checked out, if there is one. The user is author and committer. */
export async function makeCommit(git: Git, bench: Workbench, request: CommitRequest): Promise<string> {
  const message = await finalMessage(git, bench, request);
  if (message.trim() === '') throw new AgtError('the message is empty, and nothing was accepted');
  return commitTree(git, { ...request, message });
}

async function finalMessage(git: Git, bench: Workbench, request: CommitRequest): Promise<string> {
  const { message, source, edit, verify, tree } = request;
  const file = join(bench.dir, 'git', 'COMMIT_EDITMSG');
  writeFileSync(file, `${message}\n`);
  await gitText(bench.git, ['read-tree', tree]);
  // A hook sees the index of the commit; git sets the editor that refuses if there is nobody to edit.
  const env = { GIT_INDEX_FILE: bench.index, ...(edit ? {} : { GIT_EDITOR: ':' }) };
  await requireHook(git, 'prepare-commit-msg', [file, source], env);
  if (edit) await editFile(git, file);
  if (verify) await requireHook(git, 'commit-msg', [file], env);
  return cleanUp(git, readFileSync(file, 'utf8'), edit);
}

const SCISSORS = /^. -+ >8 -+\n[\s\S]*/m;

/** As `commit.cleanup` says. */
async function cleanUp(git: Git, text: string, edited: boolean): Promise<string> {
  const chosen = (await gitAnswer(git, ['config', '--get', 'commit.cleanup'])) ?? 'default';
  if (chosen === 'verbatim') return text;
  const strips = chosen === 'strip' || (chosen === 'default' && edited);
  const input = chosen === 'scissors' && edited ? text.replace(SCISSORS, '') : text;
  return gitText(git, ['stripspace', ...(strips ? ['--strip-comments'] : [])], { input });
}

/** Signs if the user's settings ask for it: `git commit-tree` does not look at them. */
export async function commitTree(
  git: Git,
  { tree, parents, message }: Pick<CommitRequest, 'tree' | 'parents' | 'message'>,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const signs = (await gitAnswer(git, ['config', '--type=bool', '--get', 'commit.gpgSign'])) === 'true';
  const settings = [...FSYNC_ARGS, '-c', 'i18n.commitEncoding=UTF-8'];
  const words = [...(signs ? ['-S'] : []), tree, ...parents.flatMap((parent) => ['-p', parent])];
  return gitText(git, [...settings, 'commit-tree', ...words, '-F', '-'], {
    input: message.endsWith('\n') ? message : `${message}\n`,
    env,
    detached: false, // to sign, git may ask for a passphrase
  });
}

/** With the author and the message of another commit. */
export async function copyCommit(
  git: Git,
  commit: string,
  content: { readonly tree: string; readonly parents: readonly string[] },
  reword = async (message: string) => message,
): Promise<string> {
  const format = '--format=%an%x00%ae%x00%ad%x00%B';
  const args = ['log', '--max-count=1', '--no-show-signature', '--no-mailmap', '--date=raw', format];
  const output = await gitText(git, [...args, commit, '--']);
  const [name = '', email = '', date = '', message = ''] = output.split('\0');
  const env = { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: `@${date}` };
  return commitTree(git, { ...content, message: await reword(message) }, env);
}

type Hook = 'pre-merge-commit' | 'prepare-commit-msg' | 'commit-msg' | 'post-merge';

/** Whether there is such a hook, as a file or in the configuration (git 2.54). `git` runs in the worktree. */
export async function hasHook(git: Git, hook: Hook): Promise<boolean> {
  const users = withUsersPrograms(git);
  const path = resolve(git.cwd, await gitText(users, ['rev-parse', '--git-path', `hooks/${hook}`]));
  if (succeeds(() => accessSync(path, constants.X_OK))) return true;
  const events = await gitAnswer(users, ['config', '--get-regexp', '^hook\\..*\\.event$']);
  return (events ?? '').split('\n').some((line) => line.endsWith(` ${hook}`));
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
async function editFile(git: Git, file: string): Promise<void> {
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
