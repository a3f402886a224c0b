/** What `--from SPEC` means: the commit that a new session starts at, and the user branch that it belongs to. */
import { AgtError } from '../../errors.ts';
import { type Git, gitAnswer, gitText, inDirectory, resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { sessionContaining } from '../find-session.ts';
import { idProblem, type SessionId } from '../id.ts';
import { readRecord, type SessionRecord } from '../record.ts';

export interface StartPoint {
  readonly commit: string;
  readonly userBranch: string | undefined;
  readonly session: SessionId | undefined;
  readonly spec: string | undefined;
}

/** @throws AgtError where there is nothing to start from. */
export async function resolveStartPoint(
  repository: Repository,
  spec: string | undefined,
  cwd: string,
): Promise<StartPoint> {
  const surrounding = sessionContaining(repository, cwd);
  const place = surrounding?.sandbox ?? (repository.worktree === undefined ? repository.commonDir : cwd);
  const git = inDirectory(repository.git, place);
  const commitOf = (name: string) => resolveObject(git, `${name}^{commit}`);

  const session = spec === undefined ? surrounding : namedBySpec(repository, spec);
  if (session !== undefined) {
    const commit = await commitOf(spec === undefined ? 'HEAD' : session.work_branch);
    if (commit === undefined)
      throw new AgtError(`session "${session.session_id}" has no commit to start from`);
    return { commit, userBranch: session.user_branch, session: session.session_id, spec };
  }

  const head = (await gitAnswer(git, ['symbolic-ref', '--quiet', 'HEAD'])) || undefined;
  if (spec === undefined) {
    const commit = await commitOf('HEAD');
    if (commit === undefined) {
      throw new AgtError(`nothing to start from: ${head ?? 'HEAD'} has no commits yet`, {
        hints: ['make a first commit, for example: git commit --allow-empty -m start'],
      });
    }
    return { commit, userBranch: head, session: undefined, spec: undefined };
  }

  const branch = `refs/heads/${spec}`;
  const ofBranch = (await isRef(git, branch)) ? await commitOf(branch) : undefined;
  if (ofBranch !== undefined) return { commit: ofBranch, userBranch: branch, session: undefined, spec };
  const commit = await commitOf(spec);
  if (commit !== undefined)
    return { commit, userBranch: surrounding?.user_branch ?? head, session: undefined, spec };
  const remote = await onlyRemoteBranch(repository, spec);
  if (remote !== undefined) return { commit: remote, userBranch: branch, session: undefined, spec };
  throw new AgtError(`'${spec}' is neither a session, nor a branch, nor a commit`, {
    hints: ['see: agt session list, git branch -a'],
  });
}

/** False for what only leads to a ref, such as `main~1`. */
async function isRef(git: Git, name: string): Promise<boolean> {
  return (await gitAnswer(git, ['show-ref', '--verify', name])) !== undefined;
}

/** As git-switch guesses: the branch of that name where exactly one remote has it. */
async function onlyRemoteBranch(repository: Repository, name: string): Promise<string | undefined> {
  if ((await gitAnswer(repository.git, ['check-ref-format', '--branch', name])) === undefined)
    return undefined;
  const remotes = (await gitText(repository.git, ['remote'])).split('\n').filter((remote) => remote !== '');
  const found = await Promise.all(
    remotes.map((remote) => resolveObject(repository.git, `refs/remotes/${remote}/${name}`)),
  );
  const commits = found.filter((commit) => commit !== undefined);
  return commits.length === 1 ? commits[0] : undefined;
}

function namedBySpec(repository: Repository, spec: string): SessionRecord | undefined {
  return idProblem(spec) === undefined ? readRecord(repository, spec as SessionId) : undefined;
}
