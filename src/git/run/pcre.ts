/** Whether this git can match Perl-compatible regular expressions; no option of git says so, using one does. */
import { type Git, runGit } from './git.ts';

/**
 * Asks in a repository: git before 2.40 aborts on `grep --no-index` outside of one. Undefined where git has another
 * complaint.
 */
export async function hasPcre(git: Git): Promise<boolean | undefined> {
  const run = await runGit(git, ['rev-list', '--all', '--max-count=0', '-P', '--grep=(?<!a)a']);
  if (run.exitCode === 0) return true;
  return run.stderr.includes('Perl-compatible') ? false : undefined;
}
