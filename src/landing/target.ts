/** The branch that takes the work of a session, and the worktree that has this branch checked out. */
import { existsSync } from 'node:fs';
import { displayPath } from '../disk/path-bytes.ts';
import { isSameDirectory } from '../disk/real-path.ts';
import { AgtError, listSome } from '../errors.ts';
import { branchNamespaces } from '../filter/agent-refs.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { HEADS, readRefValues, shortBranch } from '../git/files/ref-files.ts';
import { type BranchUser, branchUser, listWorktrees } from '../git/files/worktree-registrations.ts';
import { findObject } from '../git/objects/object-reader.ts';
import { type Git, gitAnswer, gitBytes, gitLines, gitText, inDirectory } from '../git/run/git.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { folderOfNamespace, type Repository } from '../repository/repository.ts';
import { listRecords, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { readOperation } from '../snapshot/git-dir-files.ts';
import { remoteBranches } from '../survey/merged.ts';

export interface LandingTarget {
  /** The branch; a full name. */
  readonly onto: string;
  /** Its tip before. */
  readonly from: string;
  /** Undefined if no worktree has the branch checked out. */
  readonly worktree: string | undefined;
}

/** `branch`: the one that the user names; without it, the user branch of the session. */
export async function findTarget(
  { repository, record }: Session,
  branch: string | undefined,
  wayOut = 'if it has another name now: --onto NAME',
): Promise<LandingTarget> {
  const { git } = repository;
  const named = branch === undefined ? userBranch(record) : chosenBranch(repository, branch);
  const isPlain = readRefValues(repository.commonDir, [named], git.env)?.get(named) !== undefined;
  const onto = (isPlain ? named : await gitAnswer(git, ['symbolic-ref', '--quiet', named])) ?? named;
  const from = await findObject(git, `${onto}^{commit}`);
  if (from === undefined) {
    const [there = 'COMMIT'] = await gitLines(git, [
      ...['for-each-ref', '--count=1', '--format=%(refname:short)', '--', remoteBranches(onto)],
    ]);
    throw new AgtError(`there is no branch "${shortBranch(onto)}"`, {
      hints: [wayOut, `or make it: git branch ${[shortBranch(onto), there].map(shellQuote).join(' ')}`],
    });
  }
  return { onto, from, worktree: await worktreeOf(repository, onto) };
}

function userBranch({ session_id, user_branch }: SessionRecord): string {
  if (user_branch !== undefined) return user_branch;
  throw new AgtError(`session "${session_id}" has no user branch, because it began at no branch of yours`, {
    hints: ['name the branch that takes its work: --onto BRANCH'],
  });
}

function chosenBranch({ prefixes }: Repository, onto: string): string {
  const ref = onto.startsWith(HEADS) ? onto : `${HEADS}${onto}`;
  if (!branchNamespaces(prefixes).some((namespace) => ref.startsWith(namespace))) return ref;
  throw new AgtError(`"${onto}" is a branch of a session, and accept moves only your own branches`);
}

async function worktreeOf(repository: Repository, ref: string): Promise<string | undefined> {
  const { git } = repository;
  const branch = shortBranch(ref);
  const worktrees = await listWorktrees(git);
  const users = worktrees.filter((entry) => entry.branch === ref);
  const [worktree, another] = users.map(({ path }) => path);
  if (another !== undefined) {
    throw new AgtError(`two worktrees have "${branch}" checked out: ${worktree} and ${another}`, {
      hints: ['switch one of them to another branch'],
    });
  }
  const other = await branchUser(git, ref, worktree ?? '', worktrees);
  if (other !== undefined) throw branchInUse(ref, other);
  if (worktree !== undefined) await requireUsable(repository, worktree, branch);
  return worktree;
}

export function branchInUse(ref: string, { use, worktree }: BranchUser): AgtError {
  return new AgtError(`"${shortBranch(ref)}" is ${use} in ${worktree}`, {
    hints: ['finish or abort that first'],
  });
}

async function requireUsable(repository: Repository, worktree: string, branch: string): Promise<void> {
  const { records } = listRecords(repository);
  refuseFromInside(repository, records, worktree);
  const owner = records.find(({ sandbox }) => sandbox === worktree);
  if (owner !== undefined) {
    throw new AgtError(`the sandbox of "${owner.session_id}" has "${branch}" checked out`, {
      hints: [`switch back to its work branch: git -C ${worktree} switch ${shortBranch(owner.work_branch)}`],
    });
  }
  if (!existsSync(worktree)) {
    throw new AgtError(`"${branch}" is checked out in a worktree that is gone: ${worktree}`, {
      hints: ['bring it back, or make git forget it: git worktree prune'],
    });
  }
  await refuseOperation(inDirectory(repository.git, worktree), `your worktree ${worktree}`);
}

/** A command that runs at the user's own path sees a sandbox there, and not the worktree. @throws AgtError */
function refuseFromInside({ commonDir }: Repository, records: readonly SessionRecord[], worktree: string) {
  const standsThere = records.some(
    ({ checkout, sandbox }) =>
      checkout === undefined && sandbox !== worktree && isSameDirectory(sandbox, worktree),
  );
  if (!standsThere && folderOfNamespace(commonDir) === undefined) return;
  throw new AgtError('agt cannot reach your worktree from inside of a command that runs at your own path', {
    hints: ['call agt outside of it'],
  });
}

/** @throws AgtError if git is in the middle of an operation, or the index has conflicts. `git` runs in the worktree. */
export async function refuseOperation(git: Git, name: string): Promise<void> {
  const gitDir = gitDirOf(git.cwd) ?? (await gitText(git, ['rev-parse', '--absolute-git-dir']));
  const operation = readOperation(gitDir);
  const paths = await unmergedPaths(git);
  if (operation !== null) {
    const at = `git -C ${shellQuote(git.cwd)}`;
    const end = `finish it first: ${at} ${operation} --continue`;
    const ends = [
      paths.length > 0 ? solveFirst(listSome(paths), git.cwd, operation) : end,
      `or give it up: ${at} ${operation} --abort`,
    ];
    throw new AgtError(`${name} has a ${operation} in progress`, {
      hints: operation === 'bisect' ? [`finish it first: ${at} bisect reset`] : ends,
    });
  }
  if (paths.length === 0) return;
  throw new AgtError(`${name} has conflicts in its index: ${paths.join(', ')}`, {
    hints: ['solve them, then git add each file'],
  });
}

/** For a hint. */
export function syncWith(record: SessionRecord, from: string, isRebase = false): string {
  const { session_id: id, user_branch = '' } = record;
  const branch = shortBranch(from);
  const named = branch === shortBranch(user_branch) ? '' : ` --from ${shellQuote(branch)}`;
  return `agt sync ${id}${isRebase ? ' --rebase' : ''}${named}`;
}

/** A hint: git goes on with an operation once no file has conflicts. */
export function solveFirst(paths: string, worktree: string, operation: string): string {
  const end = operation === 'merge' ? 'commit' : `${operation} --continue`;
  return `solve ${paths} in ${worktree}, then: git add FILE… && git ${end}`;
}

/** Readable paths. `git diff` would lock the index, to refresh it, and look into submodules. */
export async function unmergedPaths(git: Git): Promise<string[]> {
  const output = await gitBytes(git, ['ls-files', '--unmerged', '-z']);
  const paths = Array.from(output.toString('latin1').matchAll(/\t(.*?)\0/gs), ([, path = '']) => path);
  return [...new Set(paths)].map(displayPath);
}
