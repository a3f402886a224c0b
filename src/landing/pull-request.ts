/** Opens a pull request for an exported branch with GitHub's `gh`, or prepares one for a person. */
import { AgtError, EXIT, errorCode } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { gitAnswer } from '../git/run/git.ts';
import { runProgram } from '../process/program.ts';
import type { Repository } from '../repository/repository.ts';
import type { Session } from '../session/session.ts';
import { type Exported, startsOf } from './export.ts';
import { describePullRequest } from './message.ts';
import { commitsBetween } from './plan-landing.ts';

type PullRequest = Awaited<ReturnType<typeof describePullRequest>>;

export async function draftPullRequest(session: Session, { commit }: Exported): Promise<PullRequest> {
  const commits = await commitsBetween(session.git, startsOf(session), commit);
  return describePullRequest(session, commits);
}

interface Opened {
  /** Of the pull request, as `gh` prints it. */
  readonly address?: string | undefined;
  /** It was there before. */
  readonly wasThere?: true;
  /** Without `gh`: where a person can open one. */
  readonly place?: string;
}

/** A dry run only looks for `gh`. */
export async function openPullRequest(
  { repository, id, record }: Session,
  { remote, branch }: Exported,
  { title, body }: PullRequest,
  dryRun: boolean,
): Promise<Opened> {
  const { git } = repository;
  const { user_branch } = record;
  const base = user_branch === undefined ? [] : ['--base', shortBranch(user_branch)];
  const args = ['pr', 'create', '--head', branch, ...base, '--title', title, '--body', body];
  const env = { ...git.env, ...git.userLocale };
  const made = await runProgram('gh', dryRun ? ['--version'] : args, { cwd: git.cwd, env }).catch((error) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    return undefined;
  });
  if (made === undefined)
    return { place: (await addressOf(repository, remote, branch)) ?? `for "${branch}" at your remote` };
  if (dryRun) return {};
  if (made.exitCode === 0) return { address: made.stdout.toString().trim() };
  if (made.stderr.includes('already exists'))
    return { address: /https?:\S+/.exec(made.stderr)?.[0], wasThere: true };
  // It gives gh the title and the text once more.
  const again = `try again: agt session export ${id} --as ${branch} --remote ${remote} --pr`;
  const [first = `exit code ${made.exitCode}`, ...rest] = made.stderr.trim().split('\n');
  throw new AgtError(`the branch is exported, but gh did not open a pull request: ${first}`, {
    exitCode: EXIT.failed,
    hints: [...rest, again].filter((line) => line.trim() !== ''),
  });
}

/** The page for a new pull request; undefined for other hosts than GitHub. */
async function addressOf({ git }: Repository, remote: string, branch: string): Promise<string | undefined> {
  const url = (await gitAnswer(git, ['remote', 'get-url', '--push', remote])) ?? '';
  const path = /github\.com[:/]+(.+?\/.+?)(?:\.git)?\/?$/.exec(url)?.[1];
  return path === undefined
    ? undefined
    : `at https://github.com/${path}/compare/${encodeURI(branch)}?expand=1`;
}
