/** Makes the commit of an acceptance: hooks, editor, clean-up and signature as `git merge` and `git commit` do it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError } from '../errors.ts';
import { FSYNC_ARGS, type Git, gitAnswer, gitText } from '../git/run/git.ts';
import { editFile, requireHook } from './hooks.ts';
import type { Workbench } from './workbench.ts';

export interface CommitRequest {
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
  const args = [
    ...FSYNC_ARGS,
    '-c',
    'i18n.commitEncoding=UTF-8',
    'commit-tree',
    ...(signs ? ['-S'] : []),
    tree,
    ...parents.flatMap((parent) => ['-p', parent]),
    '-F',
    '-',
  ];
  return gitText(git, args, { input: message.endsWith('\n') ? message : `${message}\n`, env });
}
