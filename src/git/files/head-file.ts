/** The file HEAD of a worktree. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { type GitDirectories, gitDirOf } from './discover-repository.ts';
import { HEADS, readRefValues } from './ref-files.ts';

/** The branch that HEAD names, or a commit if HEAD is detached. */
export type HeadFile =
  | { readonly ref: string; readonly commit?: undefined }
  | { readonly commit: string; readonly ref?: undefined };

/** Undefined if agt cannot tell what HEAD is. In a repository with reftables HEAD always names the same branch. */
export function readHeadFile(gitDir: string): HeadFile | undefined {
  // git follows a link, or takes it for the name of a branch.
  if (lstatSync(join(gitDir, 'HEAD'), { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const text = readHead(gitDir);
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) return { commit: text };
  const ref = /^ref:\s*(refs\/\S+)$/.exec(text)?.[1];
  return ref === undefined ? undefined : { ref };
}

/** Whether git takes it for a HEAD. With another one, git takes the worktree for none. */
export function isReadableHead(gitDir: string): boolean {
  const stat = lstatSync(join(gitDir, 'HEAD'), { throwIfNoEntry: false });
  return stat?.isSymbolicLink() === true || /^(ref:\s*refs\/|[0-9a-f]{40})/.test(readHead(gitDir));
}

function readHead(gitDir: string): string {
  return (readSmallFile(join(gitDir, 'HEAD')) ?? '').trimEnd();
}

export interface FoundHead {
  /** Undefined if HEAD is detached. */
  readonly branch: string | undefined;
  readonly commit: string;
}

/** Undefined without a commit, and if git must be asked: a ref that is no branch may be the worktree's own. */
export function headWithoutGit(
  { gitDir, commonDir }: GitDirectories,
  env: NodeJS.ProcessEnv,
): FoundHead | undefined {
  const head = readHeadFile(gitDir);
  if (head?.commit !== undefined) return { branch: undefined, commit: head.commit };
  if (head?.ref.startsWith(HEADS) !== true) return undefined;
  const commit = readRefValues(commonDir, [head.ref], env)?.get(head.ref);
  return commit === undefined ? undefined : { branch: head.ref, commit };
}

/** Undefined if the submodule is not initialised, has no commit, or if only git can tell. */
export function submoduleHead(worktree: string): string | undefined {
  const gitDir = gitDirOf(worktree);
  return gitDir && headWithoutGit({ gitDir, commonDir: gitDir }, {})?.commit;
}
