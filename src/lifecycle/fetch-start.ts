/** `agt session new --fetch` and `--pr`: the start of a session comes from a remote first. */
import { AgtError, EXIT, usageError } from '../errors.ts';
import { type Git, gitLines, runGit } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';

interface Wanted {
  readonly from: string | undefined;
  readonly fetch: boolean;
  /** The number of a pull request, or of a merge request. */
  readonly pr: string | undefined;
}

/** The value of --from afterwards. @throws AgtError if the remote has no such thing. */
export async function fetchStart(
  { git }: Repository,
  { from, fetch, pr }: Wanted,
): Promise<string | undefined> {
  if (!fetch && pr === undefined) return from;
  const remotes = await gitLines(git, ['remote']);
  if (pr !== undefined) return fetchRequest(git, remotes, from, pr);
  const remote = remotes.find((name) => from?.startsWith(`${name}/`));
  if (remote === undefined || from === undefined)
    throw usageError(
      `--fetch needs --from REMOTE/BRANCH${from === undefined ? '' : `, and "${from}" begins with no remote`}`,
      remotesHint(remotes),
    );
  await fetchFrom(git, remote, [from.slice(remote.length + 1)]);
  return from;
}

/** GitHub and Gitea have the first one, GitLab the second. */
const REQUESTS = ['refs/pull/NUMBER/head', 'refs/merge-requests/NUMBER/head'];

async function fetchRequest(
  git: Git,
  remotes: readonly string[],
  from: string | undefined,
  pr: string,
): Promise<string> {
  if (!/^\d+$/.test(pr)) throw usageError(`"${pr}" is no number of a pull request`, 'for example: --pr 12');
  if (from !== undefined && !remotes.includes(from))
    throw usageError('with --pr, --from names the remote', remotesHint(remotes));
  const remote = from ?? (remotes.includes('origin') || remotes.length !== 1 ? 'origin' : remotes[0]);
  if (remote === undefined || !remotes.includes(remote))
    throw usageError('no remote is chosen', `name it: --pr ${pr} --from REMOTE; ${remotesHint(remotes)}`);
  const refs = REQUESTS.map((ref) => ref.replace('NUMBER', pr));
  const listed = await ask(git, remote, ['ls-remote', '--', remote, ...refs]);
  const [commit, ref] = listed.split('\n')[0]?.split('\t') ?? [];
  if (!commit || ref === undefined)
    throw new AgtError(`"${remote}" has no pull request ${pr}`, {
      hints: [`see: git ls-remote ${remote} '${refs[0]}'`],
    });
  await fetchFrom(git, remote, [ref]);
  return commit;
}

async function fetchFrom(git: Git, remote: string, refs: readonly string[]): Promise<void> {
  const options = ['--quiet', '--no-write-fetch-head', '--no-recurse-submodules'];
  await ask(git, remote, ['fetch', ...options, '--', remote, ...refs]);
}

async function ask(git: Git, remote: string, words: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runGit(git, words, { stdin: 'inherit' });
  if (exitCode === 0) return stdout.toString();
  const reason = stderr.split('\n')[0]?.replace(/^fatal: /, '') ?? '';
  throw new AgtError(`git cannot fetch from "${remote}": ${reason}`, {
    exitCode: EXIT.git,
    hints: [`try it: git fetch ${remote}`],
    cause: stderr,
  });
}

function remotesHint(remotes: readonly string[]): string {
  return `remotes here: ${remotes.join(', ') || 'none'}`;
}
