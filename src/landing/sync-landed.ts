/** A sync by git's own merge after work of the session has landed: the user may have changed lines of it, or reverted it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { breakStaleLocks } from '../git/files/ref-locks.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffIndex, diffTrees, editsOf } from '../git/objects/raw-diff.ts';
import { editIndex, readIndex } from '../git/objects/scratch-index.ts';
import { type Git, gitLines, gitText, isAncestor, resolveObject, runGit } from '../git/run/git.ts';
import { acceptances, landingsOf } from '../session/landings.ts';
import { hasCommitted, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { withParts } from '../survey/forms.ts';
import { revertsSince } from '../survey/landed.ts';
import { landedAs, landedSource, tipWithFamily } from '../survey/merged.ts';
import { commitFirst } from './message.ts';
import { refuseOverlap } from './overlap.ts';
import { commitsBetween } from './plan-landing.ts';
import { mergeInMemory, mergeWithBase, type Workbench, withoutSide, withWorkbench } from './workbench.ts';

interface MergedBranch {
  readonly operation: 'merge' | 'rebase';
  readonly branch: string;
  /** HEAD of the sandbox before the merge. */
  readonly head: string;
}

/**
 * Of the paths that a merge of git leaves in conflict, those that conflict as well if what landed is the base, as it is for
 * the next acceptance. The others are solved: the branch has changed lines that came from here. With that base git may
 * find other renames, so all files are as in that merge.
 *
 * @throws AgtError if uncommitted files of the sandbox would be in the way
 */
export async function withoutLanded(
  session: Session,
  { operation, branch, head }: MergedBranch,
  conflicts: readonly string[],
  dryRun: boolean,
): Promise<readonly string[]> {
  const { repository, git, sandboxGit, record } = session;
  const { user_branch: ref } = record;
  if (conflicts.length === 0 || operation !== 'merge' || ref === undefined || shortBranch(ref) !== branch)
    return conflicts;
  const tip = await gitText(git, ['rev-parse', '--verify', `${ref}^{commit}`]);
  const landed = await landedSource(git, record, head, { onto: ref, from: tip });
  return withWorkbench(repository, { ref: record.work_branch, dryRun: true }, async (bench) => {
    const onto = await tipWithFamily(session, bench.git, head, { onto: ref, from: tip });
    if ((landed ?? onto) === tip) return conflicts;
    const merged = await (landed === undefined
      ? mergeInMemory(bench, head, onto)
      : mergeWithBase(bench, { base: landed, ours: head, theirs: tip }));
    const left = new Set(merged.conflicts?.map(({ path }) => path));
    const isSolved = (path: string) => !left.has(withoutSide(path, ['HEAD', branch]));
    if (!conflicts.some(isSolved)) return conflicts;
    const { tree } = await mergeInMemory(bench, head, tip);
    const others = (await diffTrees(bench.git, tree, merged.tree)).map(({ path }) => displayPath(path));
    const solved = [...new Set([...conflicts, ...others])].filter(isSolved);
    if (dryRun) {
      const changes = await diffTrees(bench.git, head, merged.tree);
      const own = changes.filter(({ path }) => solved.includes(displayPath(path)));
      await refuseOverlap(sandboxGit, own, (paths) => commitFirst(session, paths));
    } else await takeFiles(sandboxGit, bench, merged.tree, solved);
    return conflicts.filter((path) => !isSolved(path));
  });
}

/** Into the worktree and the index. `paths`: of files that the tree has or lacks, also unmerged ones. */
async function takeFiles(sandbox: Git, { objects }: Workbench, tree: string, paths: readonly string[]) {
  const there = await findObjects(
    { ...sandbox, env: { ...sandbox.env, ...objects } },
    paths.map((path) => `${tree}:${Buffer.from(path).toString('latin1')}`),
  );
  const words = (isThere: boolean) =>
    paths.filter((_, i) => (there[i] !== undefined) === isThere).map((path) => `:(top,literal)${path}`);
  const [kept, gone] = [words(true), words(false)];
  if (gone.length > 0)
    await gitText(sandbox, ['rm', '--force', '--quiet', '--ignore-unmatch', '--', ...gone]);
  if (kept.length === 0) return;
  await gitText(sandbox, ['restore', `--source=${tree}`, '--worktree', '--', ...kept], { env: objects });
  await gitText(sandbox, ['add', '--all', '--', ...kept]);
}

/**
 * `trees`: of the files as they are, and as they are to be. HEAD goes on, and what was staged stays so, apart from files that
 * HEAD has otherwise then.
 */
export async function goOnFrom(
  sandbox: Git,
  { dir, objects }: Workbench,
  trees: string[],
  { from, to }: Record<'from' | 'to', string>,
) {
  const staged = await diffIndex(sandbox, from);
  const brought = new Set((await diffTrees(sandbox, from, to)).map(({ path }) => path));
  // The index in which agt has just added the files: git knows them as unchanged.
  const env = { ...objects, GIT_INDEX_FILE: join(dir, 'sandbox-index') };
  await gitText(sandbox, ['read-tree', '-m', '-u', ...trees], { env });
  failurePoint('sync: files brought along');
  await gitText(sandbox, ['reset', '--quiet', '--mixed', to, '--']);
  const kept = staged.filter(({ path }) => !brought.has(path));
  await editIndex(sandbox, editsOf(kept, 'after'), to.length);
}

/** A new file that the agent has committed, or announced by git add -N, is not untracked because the branch lacks it. */
export async function keepTracked(sandbox: Git, head: string, added: readonly DiffEntry[]): Promise<void> {
  if (added.length === 0) return;
  const index = await readIndex(sandbox);
  const left = added.flatMap(({ path }) => (index.has(path) ? [] : path));
  const names = left.map((path) => `${head}:${path}`);
  const committed = await findObjects(sandbox, names);
  for (const [isCommitted, words] of [[true, []] as const, [false, ['--intent-to-add']] as const]) {
    const paths = left.filter((_, i) => (committed[i] !== undefined) === isCommitted);
    if (paths.length === 0) continue;
    const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
    const list = ['--pathspec-from-file=-', '--pathspec-file-nul'];
    await gitText(sandbox, ['--literal-pathspecs', 'add', ...words, '--force', '--sparse', ...list], {
      input,
    });
  }
}

/**
 * `head`: before. After an undo the tips of earlier syncs count again. An old tip counts only if the branch has dropped it.
 */
export async function afterSync(
  git: Git,
  record: SessionRecord,
  { branch, tip, head, own }: Record<'branch' | 'tip' | 'head', string> & { readonly own: readonly string[] },
): Promise<SessionRecord> {
  if (shortBranch(record.user_branch ?? '') !== branch) return record;
  const before = (record.synced ?? []).filter((one) => one.tip !== tip);
  const old = before.slice(RECENT_SYNCS).map((one) => one.tip);
  const words = ['rev-list', '--no-walk=unsorted', '--ignore-missing', ...old, '--not', tip, '--'];
  const dropped = new Set(old.length === 0 ? [] : await gitLines(git, words));
  const kept = before.filter((one, i) => i < RECENT_SYNCS || dropped.has(one.tip));
  const known = acceptances(record);
  const amended = own.filter((commit) => !known.has(commit));
  const from = await findObjects(
    git,
    amended.map((commit) => `${commit}^`),
  );
  const accepted = amended.flatMap((commit, i) => (from[i] ? { commit, from: from[i].oid } : []));
  const added = { tip, isStart: !hasCommitted(record, head), ...(accepted.length > 0 && { accepted }) };
  return { ...record, synced: [added, ...kept] };
}

const RECENT_SYNCS = 10;

type Counted = Record<'tip' | 'head' | 'operation', string> & { readonly without: readonly string[] };

/** The commits that a merge joins, or that a rebase makes anew: not those that the branch has in other words. */
export async function countAhead(git: Git, { tip, head, operation, without }: Counted): Promise<number> {
  const isRebase = operation === 'rebase';
  const range = isRebase
    ? ['--cherry-pick', '--right-only', '--no-merges', `${tip}...${head}`]
    : [`${tip}..${head}`];
  const left = without.map((one) => `^${one}`);
  return Number(await gitText(git, ['rev-list', '--count', ...range, ...left, '--']));
}

/** git would end in the middle where a killed one has left a lock. */
export async function breakLocks({
  git,
  repository: { commonDir },
  record: { sandbox },
}: Session): Promise<void> {
  const gitDir = gitDirOf(sandbox);
  if (gitDir === undefined) return;
  const own = readdirSync(gitDir).filter((name) => name.endsWith('.lock'));
  const locks = [...own.map((name) => join(gitDir, name)), join(commonDir, 'packed-refs.lock')];
  await breakStaleLocks(locks, async () => [sandbox, gitDir, commonDir, git.cwd]);
}

/** As `git merge --continue` does. Returns the exit code. */
export async function commitMerge(git: Git): Promise<number> {
  const env = { GIT_EDITOR: ':' };
  return (await runGit(git, ['commit', '--quiet', '--no-edit', '--cleanup=strip'], { env })).exitCode;
}

/** The commits of acceptances that the branch has. */
export async function landedOn({ git, record }: Session, branch: string, tip: string): Promise<Set<string>> {
  const found = new Set<string>();
  const parts = withParts(git, landingsOf(record.landed));
  for (const one of parts) {
    const commit = shortBranch(one.onto) === branch ? await landedAs(git, one, tip, parts) : undefined;
    if (commit === undefined) continue;
    found.add(commit);
    if (commit === one.of)
      for (const merge of await commitsBetween(git, [one.from], commit)) found.add(merge);
  }
  return found;
}

export async function revertAmong(
  { git, record: { landed } }: Session,
  missing: readonly string[],
  head: string,
): Promise<string | undefined> {
  const tip = missing.at(-1);
  if (tip === undefined || landed === undefined) return undefined;
  const by = revertsSince(git, tip, landed).find((one) => missing.includes(one));
  if (by === undefined) return undefined;
  const merged = await resolveObject(git, `${landed.commit}^2`);
  const isHere = merged === undefined ? landedAs(git, landed, head) : isAncestor(git, merged, head);
  return (await isHere) ? by : undefined;
}
