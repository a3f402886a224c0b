/** Opens a pull request for an exported branch with GitHub's `gh`, if that is installed. */
import { AgtError, EXIT, errorCode } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { gitAnswer } from '../git/run/git.ts';
import { runProgram } from '../process/program.ts';
import type { Repository } from '../repository/repository.ts';
import type { Session } from '../session/session.ts';
import type { Exported } from './export.ts';
import { summarize } from './message.ts';
import { commitsBetween } from './plan-landing.ts';

/** The address of the pull request, as `gh` prints it. @throws AgtError that says how to go on without `gh`. */
export async function openPullRequest(session: Session, { remote, branch, commit }: Exported) {
  const { git } = session.repository;
  const { user_branch, from_commit } = session.record;
  const commits = await commitsBetween(git, [user_branch ?? from_commit], commit);
  const summary = await summarize(session, commits);
  const [title = '', ...body] = summary.split('\n');
  const base = user_branch === undefined ? [] : ['--base', shortBranch(user_branch)];
  const text = ['--title', title, '--body', body.join('\n').trim()];
  const args = ['pr', 'create', '--head', branch, ...base, ...text];
  const env = { ...git.env, ...git.userLocale };
  const made = await runProgram('gh', args, { cwd: git.cwd, env }).catch(async (error) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw withoutGh(await addressOf(session.repository, remote, branch), branch);
  });
  if (made.exitCode === 0) return made.stdout.toString().trim();
  const [first = `exit code ${made.exitCode}`, ...rest] = made.stderr.trim().split('\n');
  throw new AgtError(`the branch is exported, but gh did not open a pull request: ${first}`, {
    exitCode: EXIT.failed,
    hints: [...rest, `try again: gh pr create --head ${branch}`].filter((line) => line.trim() !== ''),
  });
}

function withoutGh(address: string | undefined, branch: string): AgtError {
  const open =
    address === undefined ? `open a pull request for "${branch}" at your remote` : `open it at ${address}`;
  return new AgtError('the branch is exported, but gh is not installed, so there is no pull request yet', {
    hints: [open, 'or install gh: https://cli.github.com'],
  });
}

/** The page for a new pull request; undefined for other hosts than GitHub. */
async function addressOf({ git }: Repository, remote: string, branch: string): Promise<string | undefined> {
  const url = (await gitAnswer(git, ['remote', 'get-url', '--push', remote])) ?? '';
  const path = /github\.com[:/]+(.+?\/.+?)(?:\.git)?\/?$/.exec(url)?.[1];
  return path === undefined ? undefined : `https://github.com/${path}/compare/${encodeURI(branch)}?expand=1`;
}
