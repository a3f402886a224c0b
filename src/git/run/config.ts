/** git's configuration as git itself reads it, from all files and includes, in one call. */
import { configValues } from '../files/config-file.ts';
import { type Git, gitBytes } from './git.ts';
import { withUsersPrograms } from './programs.ts';

/** Keys as git prints them: section and name in lower case. Every value of a key, in git's order. */
export type GitConfig = ReadonlyMap<string, readonly string[]>;

export async function readGitConfig(git: Git): Promise<GitConfig> {
  const listed = await gitBytes(withUsersPrograms(git), ['config', '--null', '--list']);
  return configValues(listed.toString());
}

export function remotesIn(config: GitConfig): string[] {
  const names = [...config.keys()].flatMap((key) => /^remote\.(.+)\.[^.]+$/s.exec(key)?.[1] ?? []);
  return [...new Set(names)].sort();
}

/** Whether another worktree of the repository can have other values. */
export function mayDifferInWorktrees(config: GitConfig): boolean {
  return (
    config.has('extensions.worktreeconfig') || [...config.keys()].some((key) => key.startsWith('includeif.'))
  );
}
