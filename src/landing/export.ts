/**
 * `agt session export`: pushes the work branch, or one that the agent has made, and nothing else. A commit that contains a
 * whole session folder (`.env` files, tokens, conversation logs) must never be published, so agt first checks each commit
 * that is new to the remote.
 */
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, EXIT, listSome, plural, usageError } from '../errors.ts';
import { shadowNamespaces } from '../filter/agent-refs.ts';
import { HEADS, REMOTES, shortBranch, shortOid } from '../git/files/ref-files.ts';
import { branchTips } from '../git/objects/remote-branches.ts';
import { shownFiles } from '../git/objects/status.ts';
import { asLines, type Git, gitAnswer, gitLines, gitText, runGit } from '../git/run/git.ts';
import { withUsersPrograms } from '../git/run/programs.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { hideAgentRefs } from '../repository/hide-refs.ts';
import type { Repository } from '../repository/repository.ts';
import { startsOfWork } from '../session/landings.ts';
import { withSessionLock } from '../session/lock.ts';
import type { SessionRecord } from '../session/record.ts';
import { type SandboxHead, sandboxHead, uncommittedFiles } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import { OWN } from '../snapshot/format.ts';
import { refuseOperation } from './target.ts';

interface ExportRequest {
  /** Branch name at the remote; by default the name of the branch that the sandbox has checked out. */
  readonly as: string | undefined;
  readonly remote: string | undefined;
  readonly dryRun: boolean;
  readonly allowDirty: boolean;
  /** Push to the default branch of the remote too. */
  readonly forceDefault: boolean;
  readonly now: Date;
}

export interface Exported {
  readonly remote: string;
  readonly branch: string;
  readonly commit: string;
  /** How many commits of the session are new to that branch, according to its remote-tracking branch. */
  readonly commits: number;
  /**
   * Subjects of commits that the remote does not have, and that the session began with or the user branch has by now: the
   * push publishes them as well.
   */
  readonly others: readonly string[];
  /** The user branch, if it has all of those. */
  readonly home?: string | undefined;
}

export async function exportSession(session: Session, request: ExportRequest): Promise<Exported> {
  const { ref, commit } = await exportableBranch(session, request.allowDirty);
  const remote = await chooseRemote(session, request.remote);
  const branch = request.as ?? shortBranch(ref);
  await checkBranchName(session.repository, branch);
  if (!(await hasOwnCommits(session, commit)))
    throw new AgtError(`session "${session.id}" has no commits of its own to export`, {
      hints: ['commit in the sandbox first'],
    });
  const newCommits = await commitsNewTo(session, remote, commit);
  const there = `${REMOTES}${remote}/${branch}`;
  const known = [...startsOf(session), there].map((name) => `^${name}`);
  const own = await gitLines(session.git, ['rev-list', '--ignore-missing', commit, ...known, '--']);
  const rest = [...new Set(newCommits).difference(new Set(own))];
  const others = await subjectsOf(session.git, rest);
  await refuseSessionFolders(session.git, newCommits);
  if (!request.forceDefault) await refuseDefaultBranch(session, remote, branch);
  const home = await branchWith(session, rest);
  const exported = { remote, branch, commit, commits: own.length, others, home };
  await push(session, exported, ref, request.dryRun);
  if (!request.dryRun) await remember(session, exported, request.now);
  return exported;
}

/** Commits before these are not of the session. */
export function startsOf({ repository, record }: Session): string[] {
  return [record.user_branch ?? [], startsOfWork(repository, record)].flat();
}

/** A remote that does not answer makes the push fail, which tells why. */
async function commitsNewTo({ repository, git }: Session, remote: string, commit: string): Promise<string[]> {
  const there = await branchTips(repository, remote, async (words) =>
    ((await gitAnswer(git, words)) ?? '').split('\n').filter(Boolean),
  );
  const input = asLines([commit, ...there.map((tip) => `^${tip}`)]);
  return gitLines(git, ['rev-list', '--ignore-missing', '--stdin'], { input });
}

function remember(session: Session, { remote, branch, commit }: Exported, now: Date): Promise<void> {
  return withSessionLock(session, async (locked) => {
    const exported = { remote, branch, commit, at: now.toISOString() };
    locked.write({ ...locked.record, exported });
  });
}

/** A repository that nothing was pushed to yet may lack all of them: then it is enough to name the newest ones. */
async function subjectsOf(git: Git, others: readonly string[]): Promise<string[]> {
  const named = others.slice(0, LISTED);
  if (named.length === 0) return [];
  const words = ['log', '--no-walk=unsorted', '--no-show-signature', '--format=%h %s (%an)', ...named, '--'];
  const subjects = await gitLines(git, words);
  return [...subjects, ...others.slice(LISTED).map((oid) => shortOid(oid))];
}

async function branchWith({ git, record: { user_branch: home } }: Session, commits: readonly string[]) {
  if (home === undefined || commits.length === 0) return undefined;
  const input = asLines([...commits, `^${home}`]);
  const lacking = await gitAnswer(git, ['rev-list', '--max-count=1', '--stdin'], { input });
  return lacking === '' ? shortBranch(home) : undefined;
}

/** Paths and commits that a message lists. */
const LISTED = 3;

/** @throws AgtError if the push would go to the branch that everybody starts from. */
async function refuseDefaultBranch(
  { git, id, record: { work_branch } }: Session,
  remote: string,
  branch: string,
): Promise<void> {
  if (`${HEADS}${branch}` === work_branch) return;
  const known = await gitAnswer(git, ['symbolic-ref', '--quiet', `${REMOTES}${remote}/HEAD`]);
  const asked = known ?? (await gitAnswer(git, ['ls-remote', '--symref', remote, 'HEAD'])) ?? '';
  const name =
    known?.slice(`${REMOTES}${remote}/`.length) ?? /^ref: refs\/heads\/(.*)\tHEAD$/m.exec(asked)?.[1];
  if (name !== branch) return;
  throw new AgtError(`"${branch}" is the default branch of "${remote}"`, {
    hints: [
      `export to a branch of its own: agt session export ${id}`,
      'or push there all the same: --force-default',
    ],
  });
}

/** The work branch, or one that the agent has made. @throws AgtError if the sandbox is on none, or has uncommitted changes. */
async function exportableBranch(session: Session, allowDirty: boolean) {
  const { git, record } = session;
  const head = await sandboxHead(session);
  const isOwn = head.ref !== undefined && (await isMadeSince(git, head.ref, record.created_at));
  if (head.ref === undefined)
    await refuseOperation(session.sandboxGit, `the sandbox of "${record.session_id}"`);
  const exportable = ownBranch(record, head, isOwn);
  const uncommitted = shownFiles(await uncommittedFiles(session)).map(displayPath);
  if (uncommitted.length > 0 && !allowDirty) {
    const files = `${plural(uncommitted.length, 'file')}: ${listSome(uncommitted, LISTED)}`;
    throw new AgtError(`sandbox of "${record.session_id}" has uncommitted changes (${files})`, {
      hints: [`commit them${(await hasOwnCommits(session, exportable.commit)) ? OR_COMMITS : ''}`],
    });
  }
  return exportable;
}

const OR_COMMITS = ', or export only the commits with --allow-dirty';

/** A branch of the user has an older reflog, or none. */
export async function isMadeSince(git: Git, ref: string, time: string): Promise<boolean> {
  const args = ['log', '--walk-reflogs', '--date=unix', '--format=%gd', ref, '--'];
  const oldest = (await gitAnswer(git, args))?.split('\n').at(-1);
  const seconds = Number(/@\{(\d+)\}$/.exec(oldest ?? '')?.[1]);
  return seconds >= Math.floor(Date.parse(time) / 1000);
}

/** Without any, a push would only give another name to commits of the user. */
async function hasOwnCommits(session: Session, commit: string): Promise<boolean> {
  const words = ['rev-list', '--max-count=1', commit, '--not', ...startsOf(session), '--'];
  return (await gitAnswer(session.git, words)) !== '';
}

function ownBranch(record: SessionRecord, { ref, commit }: SandboxHead, isOwn: boolean) {
  const sandbox = `sandbox of "${record.session_id}"`;
  const work = shortBranch(record.work_branch);
  const git = `git -C ${shellQuote(record.checkout ?? record.sandbox)}`;
  const merge = (commits: string) =>
    `merge its commits into the work branch: ${git} switch ${work} && ${git} merge ${commits}`;
  if (ref === undefined) {
    throw new AgtError(`${sandbox} has a detached HEAD`, {
      hints: [merge(commit ?? 'COMMIT')],
    });
  }
  const branch = shortBranch(ref);
  if (commit === undefined) {
    throw new AgtError(`${sandbox} is on "${branch}", which has no commits yet`, {
      hints: [`switch to the work branch: ${git} switch ${work}`],
    });
  }
  if (ref !== record.work_branch && !isOwn) {
    throw new AgtError(`${sandbox} is on "${branch}", not on its work branch "${work}"`, {
      hints: [merge(branch)],
    });
  }
  return { ref, commit };
}

async function chooseRemote({ git, record }: Session, requested: string | undefined): Promise<string> {
  const remotes = await gitLines(git, ['remote']);
  const remote = requested ?? (await configuredRemote(git, record)) ?? onlyRemote(remotes);
  if (remotes.includes(remote)) return remote;
  throw usageError(`no remote "${remote}"`, `remotes here: ${remotes.join(', ') || 'none'}`);
}

/** The remote that the user branch pushes to or pulls from. */
async function configuredRemote(git: Git, { user_branch }: SessionRecord): Promise<string | undefined> {
  const ofBranch = (name: string) =>
    user_branch === undefined ? [] : [`branch.${shortBranch(user_branch)}.${name}`];
  for (const key of [...ofBranch('pushRemote'), 'remote.pushDefault', ...ofBranch('remote')]) {
    const value = await gitAnswer(git, ['config', '--get', key]);
    if (value && value !== '.') return value;
  }
  return undefined;
}

/** The only remote, else origin. */
function onlyRemote(remotes: readonly string[]): string {
  const [only, ...others] = remotes;
  if (only === undefined) {
    throw new AgtError('this repository has no remote to export to', {
      hints: ['add one: git remote add origin URL'],
    });
  }
  if (others.length === 0) return only;
  if (remotes.includes('origin')) return 'origin';
  throw usageError(
    'this repository has several remotes, and no setting chooses one',
    `choose one with --remote: ${remotes.join(', ')}`,
  );
}

async function checkBranchName(repository: Repository, branch: string): Promise<void> {
  if ((await gitAnswer(repository.git, ['check-ref-format', '--branch', branch])) === undefined) {
    throw usageError(`"${branch}" is not a valid branch name`, 'see git-check-ref-format(1)');
  }
  const isShadow = (namespace: string) => `${HEADS}${branch}`.startsWith(namespace);
  if (shadowNamespaces(repository.prefixes).some(isShadow)) {
    const problem = `"${branch}" is a name for shadow branches, which are never published`;
    throw usageError(problem, 'choose another name');
  }
}

/** @throws AgtError if one of the commits has the tree of a snapshot. */
export async function refuseSessionFolders(git: Git, commits: readonly string[]): Promise<void> {
  const input = commits.map((commit) => `${commit}:${OWN.manifest}\n${commit}:sandbox\n`).join('');
  if (input === '') return;
  const output = await gitText(git, ['cat-file', '--batch-check=%(objecttype)'], { input });
  const types = output.split('\n');
  const snapshot = commits.find((_, i) => types[2 * i] === 'blob' && types[2 * i + 1] === 'tree');
  if (snapshot === undefined) return;
  const abbreviated = snapshot.slice(0, ABBREVIATED);
  throw new AgtError(`commit ${abbreviated} contains a whole session folder and must not be published`, {
    exitCode: EXIT.failed,
    hints: [
      'an autocommit was merged into the work branch; remove it: git rebase -i',
      `see it with: agt log --oneline --graph ${abbreviated}`,
    ],
  });
}

/** Hexadecimal digits of a commit in messages. */
const ABBREVIATED = 12;

/** `ref` is the branch here. */
async function push({ repository, id }: Session, { remote, branch }: Exported, ref: string, dryRun: boolean) {
  if (!dryRun) await hideAgentRefs(repository);
  const options = dryRun ? ['--dry-run', '--quiet'] : ['--set-upstream'];
  const args = ['push', ...options, '--', remote, `${ref}:refs/heads/${branch}`];
  // On standard output git only says which branch it tracks now; that of agt is the result.
  const git = withUsersPrograms(repository.git);
  const run = await runGit(git, args, { stderr: 'inherit', stdout: 'ignore', stdin: 'inherit' });
  if (run.exitCode === 0) return;
  // git exits with 1 if the remote has refused the branch.
  const { exitCode } = run;
  const another = `export under another name: agt session export ${id} --as NAME`;
  const hints = [exitCode === 1 ? another : `see where it is: git remote get-url --push ${remote}`];
  throw new AgtError(`git push to "${remote}" failed, and nothing was exported`, { exitCode, hints });
}
