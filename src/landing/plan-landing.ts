/** Merges the work of a session with a branch, and decides which commit the branch gets. */
import { displayPath } from '../disk/path-bytes.ts';
import { type Git, gitText } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { refuseSessionFolders } from '../session/lifecycle/export.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Landable, LandingPlan } from './accept-request.ts';
import { conflictError, nothingToAccept } from './landing-errors.ts';
import { mergeInMemory } from './merge-in-memory.ts';
import { draftMessage } from './message.ts';
import { choosePaths } from './path-filter.ts';
import { pickCommits } from './pick-commits.ts';
import {
  commitOfContent,
  diffTrees,
  mergeBase,
  readSandbox,
  type SandboxContent,
} from './sandbox-content.ts';

/** @throws AgtError that names the conflicts, or if there is nothing to accept. */
export async function planLanding(
  repository: Repository,
  record: SessionRecord,
  landable: Landable,
): Promise<LandingPlan> {
  const { target, bench, request } = landable;
  const git = bench.git;
  const content = await readSandbox(repository, record, bench, request.committedOnly);
  if (request.commits.length > 0) return pickCommits(repository, record, landable);
  const base = await mergeBase(git, target.tip, content.head);
  const { tree, leftOut } = await choosePaths(git, { base, tree: content.tree }, request);
  const theirs = await commitToMerge(repository, record, { ...content, tree }, landable);
  const merged = await mergeInMemory(bench, target.tip, theirs);
  if (merged.conflicts !== undefined) throw conflictError(record, target, merged.conflicts);
  const changes = await diffTrees(git, target.tip, merged.tree, {});
  if (changes.length === 0) throw nothingToAccept(record, target);
  const commits = await commitsBetween(git, target.tip, content.head);
  if (request.keepCommits) await refuseSessionFolders(repository, commits);
  return {
    target,
    tree: merged.tree,
    parents: [target.tip, ...(request.keepCommits ? [theirs] : [])],
    message: await draftMessage(repository, record, commits, request),
    commit: undefined,
    changes,
    leftOut: [...leftOut, ...(request.committedOnly ? readable(content) : [])],
    warnings: [],
  };
}

function readable({ uncommitted }: SandboxContent): string[] {
  return uncommitted.map(({ path }) => displayPath(path));
}

/** With --keep-commits the branch gets this commit too, so the user makes it. */
async function commitToMerge(
  repository: Repository,
  record: SessionRecord,
  content: SandboxContent,
  { bench, request, target }: Landable,
): Promise<string> {
  if (!request.keepCommits)
    return commitOfContent(bench.git, content, 'content of the sandbox', AGT_IDENTITY);
  const message = await draftMessage(repository, record, [], {
    text: request.text ?? `Uncommitted work of session ${record.session_id}`,
    summary: undefined,
  });
  const own = await commitOfContent(bench.git, content, message, {});
  const isInBranch = own === target.tip;
  if (isInBranch) throw nothingToAccept(record, target);
  return own;
}

/** No ref ever leads to such a commit. */
const AGT_IDENTITY = {
  GIT_AUTHOR_NAME: 'agt',
  GIT_AUTHOR_EMAIL: 'agt@local',
  GIT_COMMITTER_NAME: 'agt',
  GIT_COMMITTER_EMAIL: 'agt@local',
};

/** The commits of `head` that `branch` lacks, oldest first. */
export async function commitsBetween(git: Git, branch: string, head: string): Promise<string[]> {
  const listed = await gitText(git, ['rev-list', '--reverse', '--topo-order', head, '--not', branch, '--']);
  return listed.split('\n').filter((line) => line !== '');
}
