/** Resolves `--from SPEC`: the commit that a new session starts at, and its user branch. */
import { AgtError } from '../errors.ts';
import type { FoundHead } from '../git/files/head-file.ts';
import { HEADS, REMOTES } from '../git/files/ref-files.ts';
import { type Git, gitAnswer, gitLines, inDirectory, resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { sessionContaining } from '../session/find-session.ts';
import type { SessionId } from '../session/id.ts';
import { recordNamed, type SessionRecord } from '../session/record.ts';

interface StartPoint {
  readonly commit: string;
  /** Full name; undefined if HEAD is detached. */
  readonly userBranch: string | undefined;
  /** The session that the new one starts from. */
  readonly session?: SessionId;
  readonly spec?: string | undefined;
}

/** Without `spec`: HEAD in `cwd`, which can be a sandbox. @throws AgtError if there is no commit. */
export async function resolveStartPoint(repository: Repository, spec: string | undefined, cwd: string) {
  const surrounding = sessionContaining(repository, cwd);
  const directory = surrounding?.sandbox ?? (repository.worktree === undefined ? repository.commonDir : cwd);
  const git = inDirectory(repository.git, directory);
  const session = spec === undefined ? surrounding : recordNamed(repository, spec);
  if (session !== undefined && spec !== undefined && (await isRef(git, `${HEADS}${spec}`)))
    throw new AgtError(`"${spec}" is a session and a branch`, {
      hints: [`name the branch: --from heads/${spec}`, `or start from the session: agt session fork ${spec}`],
    });
  if (session !== undefined) return startFromSession(git, session, spec);
  const head = (await gitAnswer(git, ['symbolic-ref', '--quiet', 'HEAD'])) || undefined;
  if (spec === undefined) return startFromHead(git, head);
  return startFromRevision(repository, git, spec, surrounding?.user_branch ?? head);
}

/** Also in a folder without files. */
export const FIRST_COMMIT = 'git add . && git commit --allow-empty -m start';

/** HEAD of the worktree in which the user works. */
export function startAt({ commit, branch }: FoundHead): StartPoint {
  return { commit, userBranch: branch };
}

async function startFromSession(git: Git, session: SessionRecord, spec: string | undefined) {
  const commit = await commitOf(git, spec === undefined ? 'HEAD' : session.work_branch);
  if (commit === undefined)
    throw new AgtError(`nothing to start from: session "${session.session_id}" has no work branch any more`, {
      hints: [`start from its last snapshot: agt fork ${session.session_id}`],
    });
  return { commit, userBranch: session.user_branch, session: session.session_id, spec };
}

async function startFromHead(git: Git, head: string | undefined): Promise<StartPoint> {
  const commit = await commitOf(git, 'HEAD');
  if (commit === undefined) {
    throw new AgtError(`nothing to start from: ${head ?? 'HEAD'} has no commits yet`, {
      hints: [`make a first commit, so that the sandbox has your files: ${FIRST_COMMIT}`],
    });
  }
  return { commit, userBranch: head };
}

async function startFromRevision(
  repository: Repository,
  git: Git,
  spec: string,
  currentBranch: string | undefined,
): Promise<StartPoint> {
  const branch = `${HEADS}${spec.replace(/^(refs\/)?heads\//, '')}`;
  const branchCommit = (await isRef(git, branch)) ? await commitOf(git, branch) : undefined;
  if (branchCommit !== undefined) return { commit: branchCommit, userBranch: branch, spec };
  const commit = await commitOf(git, spec);
  if (commit !== undefined) return { commit, userBranch: currentBranch, spec };
  const remote = await onlyRemoteBranch(repository, spec);
  if (remote !== undefined) return { ...remote, userBranch: currentBranch };
  throw new AgtError(`"${spec}" is not a session, a branch or a commit`, {
    hints: ['see: agt session list, git branch -a'],
  });
}

function commitOf(git: Git, name: string): Promise<string | undefined> {
  return resolveObject(git, `${name}^{commit}`);
}

/** False for a revision such as `main~1`. */
async function isRef(git: Git, name: string): Promise<boolean> {
  return (await gitAnswer(git, ['show-ref', '--verify', name])) !== undefined;
}

/** As git-switch(1) guesses: the remote branch of that name, if exactly one remote has it. */
async function onlyRemoteBranch({ git }: Repository, name: string) {
  if ((await gitAnswer(git, ['check-ref-format', '--branch', name])) === undefined) return undefined;
  const specs = (await gitLines(git, ['remote'])).map((remote) => `${remote}/${name}`);
  const found = await Promise.all(specs.map((spec) => resolveObject(git, REMOTES + spec)));
  const there = specs.flatMap((spec, i) => (found[i] === undefined ? [] : [{ spec, commit: found[i] }]));
  return there.length === 1 ? there[0] : undefined;
}
