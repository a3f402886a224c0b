/** `--commits`: cherry-picks some commits of the agent onto the branch, in memory. */
import { AgtError } from '../errors.ts';
import { type Git, gitText, inDirectory, resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { refuseSessionFolders } from '../session/lifecycle/export.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Landable, LandingPlan } from './accept-request.ts';
import { conflictError, nothingToAccept } from './landing-errors.ts';
import { commitTree } from './make-commit.ts';
import { mergeWithBase } from './merge-in-memory.ts';
import { withTrailer } from './message.ts';
import { diffTrees } from './sandbox-content.ts';

export async function pickCommits(
  repository: Repository,
  record: SessionRecord,
  { target, bench, request }: Landable,
): Promise<LandingPlan> {
  const { git } = bench;
  const commits = await resolveCommits(inDirectory(repository.git, record.sandbox), request.commits);
  await refuseSessionFolders(repository, commits);
  let tip = target.tip;
  for (const commit of commits) {
    const parent = await resolveObject(git, `${commit}^`);
    const merged = await mergeWithBase(bench, { base: parent, ours: tip, theirs: commit });
    if (merged.conflicts !== undefined) throw conflictError(record, target, merged.conflicts);
    const isEmpty = (await resolveObject(git, `${tip}^{tree}`)) === merged.tree;
    if (!isEmpty) tip = await copyOf(repository, git, record, { commit, tree: merged.tree, parent: tip });
  }
  if (tip === target.tip) throw nothingToAccept(record, target);
  const tree = await gitText(git, ['rev-parse', `${tip}^{tree}`]);
  const changes = await diffTrees(git, target.tip, tip);
  return {
    target,
    tree,
    parents: [],
    message: undefined,
    commit: tip,
    source: undefined,
    changes,
    leftOut: [],
    warnings: [],
  };
}

/** Names, and ranges such as `A..B`; in the order of the history, oldest first. */
async function resolveCommits(git: Git, names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    const isRange = name.includes('..');
    if (!isRange && (await resolveObject(git, `${name}^{commit}`)) === undefined)
      throw new AgtError(`no commit "${name}" in the sandbox`, { hints: ['see: agt git log'] });
    const args = ['rev-list', '--reverse', '--topo-order', ...(isRange ? [] : ['--max-count=1']), name, '--'];
    found.push(...(await gitText(git, args)).split('\n').filter((line) => line !== ''));
  }
  return [...new Set(found)];
}

interface Copy {
  readonly commit: string;
  readonly tree: string;
  readonly parent: string;
}

/** With the author, the date and the message of the original. */
async function copyOf(
  repository: Repository,
  git: Git,
  { session_id }: SessionRecord,
  { commit, tree, parent }: Copy,
): Promise<string> {
  const format = '--format=%an%x00%ae%x00%ad%x00%B';
  const args = [
    'log',
    '--max-count=1',
    '--no-show-signature',
    '--no-mailmap',
    '--date=raw',
    format,
    commit,
    '--',
  ];
  const [name = '', email = '', date = '', message = ''] = (await gitText(git, args)).split('\0');
  const env = { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: `@${date}` };
  const text = await withTrailer(repository, message, session_id);
  return commitTree(git, { tree, parents: [parent], message: text }, env);
}
