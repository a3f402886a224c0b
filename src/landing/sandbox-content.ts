/** The content of a sandbox as a tree: its commits, and its uncommitted files as `git add --all` would store them. */
import { join } from 'node:path';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, plural } from '../errors.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { SUBMODULE } from '../git/modes.ts';
import { type DiffEntry, diffTrees, entryOf } from '../git/objects/raw-diff.ts';
import { addAll, copyIndex, writeTree } from '../git/objects/scratch-index.ts';
import { type Git, gitAnswer, gitFailed, gitText } from '../git/run/git.ts';
import { reportProgress } from '../process/progress.ts';
import { sandboxHead } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import type { AcceptRequest } from './accept-request.ts';
import { leaveOut, matcher } from './path-filter.ts';
import { refuseOperation } from './target.ts';
import { usersOwn } from './users-side.ts';
import type { Workbench } from './workbench.ts';

type Wanted = Pick<AcceptRequest, 'committedOnly' | 'include' | 'exclude'>;

export type SandboxContent = Awaited<ReturnType<typeof readSandbox>>;

/** @throws AgtError if the sandbox is in a state in which nobody can say which work is to be accepted. */
export async function requireSettled(session: Session): Promise<string> {
  const { record, sandboxGit: git } = session;
  const sandbox = `the sandbox of "${record.session_id}"`;
  const { ref, commit } = await sandboxHead(session);
  await refuseOperation(git, sandbox);
  const work = shortBranch(record.work_branch);
  if (commit === undefined) {
    throw new AgtError(`${sandbox} is on "${shortBranch(ref ?? '')}", which has no commits yet`, {
      hints: [`switch to the work branch: git -C ${record.sandbox} switch ${work}`],
    });
  }
  const left = Number(
    await gitAnswer(git, ['rev-list', '--count', record.work_branch, '--not', commit, '--']),
  );
  if (left > 0) {
    const place = ref === undefined ? 'has a detached HEAD' : `is on "${shortBranch(ref)}"`;
    const at = `git -C ${record.checkout ?? record.sandbox}`;
    const inPlace = [`go back to it: ${at} switch ${work}`];
    const ways = [`merge them: ${at} merge ${work}`, `or go back: ${at} switch ${work}`];
    const problem = `${sandbox} ${place}, which lacks ${plural(left, 'commit')} of its work branch "${work}"`;
    throw new AgtError(problem, { hints: record.checkout === undefined ? ways : inPlace });
  }
  return commit;
}

export async function readSandbox(session: Session, bench: Workbench, request: Partial<Wanted> = {}) {
  const head = await requireSettled(session);
  const git = session.sandboxGit;
  reportProgress('reading the sandbox');
  const { tree: whole, uncommitted, ...left } = await uncommittedWork(session, bench, head);
  if (!request.committedOnly) await refuseRepositories(git, whole, uncommitted, bench, request);
  const tree = request.committedOnly ? await gitText(git, ['rev-parse', `${head}^{tree}`]) : whole;
  // `uncommitted` are changes, whether they are in the tree or not.
  return { head, tree, whole, uncommitted, ...left };
}

async function uncommittedWork(session: Session, bench: Workbench, head: string) {
  const { isUsers, emptyRepositories } = await usersOwn(session);
  const { tree, ...left } = await treeOfFiles(session.sandboxGit, bench, emptyRepositories);
  const changes = await diffTrees(bench.git, head, tree);
  const users = changes.filter(isUsers);
  const own = await leaveOut(bench, tree, users);
  return { tree: own.tree, uncommitted: changes.filter((change) => !isUsers(change)), ...left };
}

/** Whether `landing`, a commit, has all that the session has committed since `base`. */
export async function hasAllCommitted(
  git: Git,
  { head, whole }: SandboxContent,
  base: string,
  landing: string,
) {
  const [apart, committed, open] = await Promise.all([
    diffTrees(git, head, landing, { countLines: false }),
    diffTrees(git, base, head, { countLines: false }),
    diffTrees(git, head, whole, { countLines: false }),
  ]);
  const names = new Set(committed.map(({ path }) => path));
  const entries = new Map(open.map(({ path, after }) => [path, entryOf(after)]));
  const isOpen = ({ path, after }: DiffEntry) => entries.has(path) && entries.get(path) === entryOf(after);
  return apart.every((change) => !names.has(change.path) || isOpen(change));
}

/**
 * `unstorable`: files that no commit of git can hold, such as `git~1`, which is a name of `.git` on other systems.
 * `unreadable`: their mode keeps git from them.
 */
async function treeOfFiles(git: Git, { dir, objects }: Workbench, leftOut: readonly string[]) {
  const writing = { ...git, env: { ...git.env, ...objects } };
  const index = await copyIndex(writing, gitDirOf(git.cwd), join(dir, 'sandbox-index'));
  const unstorable: string[] = [];
  const unreadable: string[] = [];
  for (;;) {
    const files = [...unstorable, ...unreadable].map((path) => Buffer.from(path).toString('latin1'));
    const added = await addAll(index, ['--all'], leftOut, files);
    if (added.exitCode === 0) return { tree: await writeTree(index), unstorable, unreadable };
    const empty = /^error: '(.*?)\/?' does not have a commit checked out$/m.exec(added.stderr)?.[1];
    if (empty !== undefined) throw hasRepositories([empty], ', once it has a commit');
    const invalid = /^error: invalid path '(.*)'$/m.exec(added.stderr)?.[1]; // git names one at a time
    const closed = /^error: open\("(.*)"\): Permission denied$/m.exec(added.stderr)?.[1];
    const path = invalid ?? closed;
    if (path === undefined || [...unstorable, ...unreadable].includes(path)) throw gitFailed(['add'], added);
    (invalid === undefined ? unreadable : unstorable).push(path);
  }
}

/** git would store only the name of the commit of a repository inside the sandbox, and its files would be lost. */
async function refuseRepositories(
  git: Git,
  tree: string,
  changes: readonly DiffEntry[],
  { objects }: Workbench,
  { include = [], exclude = [] }: Partial<Wanted>,
): Promise<void> {
  const added = changes.filter(
    ({ before, after }) => after?.mode === SUBMODULE && before?.mode !== SUBMODULE,
  );
  if (added.length === 0) return;
  const args = ['config', '--blob', `${tree}:.gitmodules`, '--get-regexp', '\\.path$'];
  const listed = (await gitAnswer(git, args, { env: objects })) ?? '';
  const declared = new Set(listed.split('\n').map((line) => line.slice(line.indexOf(' ') + 1)));
  const foreign = added
    .map(({ path }) => displayPath(path))
    .filter((path) => !declared.has(path) && gitDirOf(join(git.cwd, path)) !== undefined);
  if (foreign.length === 0) return;
  const landing = foreign.filter(await matcher({ include, exclude }));
  if (landing.length > 0) throw hasRepositories(landing);
}

function hasRepositories(paths: readonly string[], condition = ''): AgtError {
  return new AgtError(`the sandbox has a git repository inside: ${paths.join(', ')}`, {
    hints: [
      'move it away, or name it in .gitignore',
      `or make it a submodule${condition}: git submodule add`,
    ],
  });
}

/** The commit below which the work of the session and the branch have a common history. */
export async function mergeBase(
  git: Git,
  branch: string,
  head: string,
  hint = OTHER_BRANCH,
): Promise<string> {
  const base = branch === head ? head : await gitAnswer(git, ['merge-base', branch, head]);
  if (base !== undefined) return base;
  throw new AgtError('the work of the session and the branch have no common history', { hints: [hint] });
}

const OTHER_BRANCH = 'name another branch with --onto';
