/** Whether a git can match Perl-compatible regular expressions. No option of git tells; only trying does. */
import { type Git, runGit } from './git.ts';

/**
 * Needs a repository, because git before 2.40 aborts on `grep --no-index` outside of one. Undefined when git fails for
 * another reason.
 */
export async function hasPcre(git: Git): Promise<boolean | undefined> {
  const run = await runGit(git, ['rev-list', '--branches', '--max-count=0', '-P', '--grep=(?<!a)a']);
  if (run.exitCode === 0) return true;
  return run.stderr.includes('Perl-compatible') ? false : undefined;
}
