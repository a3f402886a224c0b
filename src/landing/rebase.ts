/** `agt session sync --rebase`: predicted in memory, and done by git. */
import { closeSync, readFileSync } from 'node:fs';
import { namelessFile } from '../disk/nameless-file.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, attempt, FEW, listSome } from '../errors.ts';
import { shortOid } from '../git/files/ref-files.ts';
import { plainCommit } from '../git/objects/scratch-index.ts';
import { readStatus } from '../git/objects/status.ts';
import { type Git, gitLines, gitText, runGit } from '../git/run/git.ts';
import { endProgress } from '../process/progress.ts';
import type { Session } from '../session/session.ts';
import { copyCommit } from './make-commit.ts';
import { commitFirst } from './message.ts';
import { ownOfMerges } from './session-commits.ts';
import { syncWith } from './target.ts';
import { type Merged, mergeWithBase, type Workbench } from './workbench.ts';

/** git rebases no worktree with uncommitted changes of tracked files, wherever they are. */
export async function refuseUncommitted(
  session: Session,
  { branch, commits }: { readonly branch: string; readonly commits: number },
): Promise<void> {
  const { entries } = await readStatus(session.sandboxGit, '--untracked-files=no', '--ignore-submodules=all');
  if (entries.length === 0) return;
  const { session_id: id } = session.record;
  const problem = `git does not rebase the sandbox of "${id}" with uncommitted changes; nothing has changed`;
  const paths = entries.map(({ path }) => path);
  const other = commits > 0 ? [`or merge "${branch}": ${syncWith(session.record, branch)}`] : [];
  throw new AgtError(problem, { hints: [await commitFirst(session, paths), ...other] });
}

/** A rebase makes no merge anew: git would drop what one has beside its sides. Of a conflict that one solved, git tells. */
export async function refuseOwnOfMerges(session: Session, bench: Workbench, plan: Rebased): Promise<void> {
  const { branch, commits, tip, head, without } = plan;
  const { session_id: id } = session.record;
  const range = [`${tip}..${head}`, ...without.map((one) => `^${one}`)];
  for (const { commit, changes, conflicts } of await ownOfMerges(bench, tip, range)) {
    const solved = new Set(conflicts.map(({ path }) => path));
    const own = changes.map(({ path }) => displayPath(path)).filter((path) => !solved.has(path));
    if (own.length === 0) continue;
    const what = `what the merge ${shortOid(commit)} has beside its sides, in ${listSome(own, FEW)}`;
    const other = commits > 0 ? [`merge "${branch}": ${syncWith(session.record, branch)}`] : [];
    throw new AgtError(`a rebase of "${id}" would drop ${what}; nothing has changed`, { hints: other });
  }
}

interface Rebased extends Record<'branch' | 'tip' | 'head', string> {
  /** Of the branch, that the sandbox lacks. */
  readonly commits: number;
  readonly without: readonly string[];
}

/** As `git rebase` would, in memory. `without`: commits whose histories stay out as well. */
export async function rebaseInMemory(
  bench: Workbench,
  head: string,
  onto: string,
  without: readonly string[],
): Promise<Merged> {
  const copy = (_: string, tree: string, tip: string) => plainCommit(bench.git, tree, [tip]);
  const { tip, conflict } = await pickOnto(bench, head, onto, without, copy);
  return conflict ?? { tree: await treeOf(bench.git, tip) };
}

/**
 * Copies the commits of `head` that have something which `onto` lacks. One that conflicts stays out. Returns the last copy.
 */
export async function copyOnto(
  bench: Workbench,
  head: string,
  onto: string,
  without: readonly string[],
): Promise<string> {
  const { git } = bench;
  const copy = async (commit: string, tree: string, tip: string) =>
    tree === (await treeOf(git, tip)) ? tip : copyCommit(git, commit, { tree, parents: [tip] });
  return (await pickOnto(bench, head, onto, without, copy, true)).tip;
}

const treeOf = (git: Git, commit: string) => gitText(git, ['rev-parse', '--verify', `${commit}^{tree}`]);

/** No merges, and no commit that `onto` has as a copy. */
async function pickOnto(
  bench: Workbench,
  head: string,
  onto: string,
  without: readonly string[],
  copy: (commit: string, tree: string, tip: string) => Promise<string>,
  passesOver = false,
): Promise<{ readonly tip: string; readonly conflict?: Merged }> {
  const order = ['--reverse', '--topo-order', '--no-merges', '--right-only', '--cherry-pick'];
  const range = [`${onto}...${head}`, ...without.map((one) => `^${one}`)];
  let tip = onto;
  for (const commit of await gitLines(bench.git, ['rev-list', ...order, ...range, '--'])) {
    const merged = await mergeWithBase(bench, { base: `${commit}^`, ours: tip, theirs: commit });
    if (merged.conflicts === undefined) tip = await copy(commit, merged.tree, tip);
    else if (!passesOver) return { tip, conflict: merged };
  }
  return { tip };
}

/**
 * Without git's advice, as agt gives its own. If agt is killed, a pipe in place of the file would end git in the middle.
 * `tip`: of the branch. `without`: commits whose histories stay out as well.
 */
export async function rebaseByGit(
  git: Git,
  branch: string,
  tip: string,
  without: readonly string[],
): Promise<number> {
  // With --onto, git leaves out the history of one commit alone.
  const all = without.length > 0 && (await plainCommit(git, `${tip}^{tree}`, [tip, ...without]));
  const range = all ? ['--onto', branch, all] : [branch];
  const words = ['-c', 'rebase.updateRefs=false', 'rebase', '--quiet', '--no-autostash', ...range];
  const said = attempt(namelessFile);
  const streams = { stdout: 'ignore', stderr: said?.writing ?? 'inherit', detached: false } as const;
  const { exitCode } = await runGit(git, words, { env: { GIT_EDITOR: ':' }, ...streams });
  if (said === undefined) return exitCode;
  const text = readFileSync(said.reading, 'utf8');
  for (const fd of [said.reading, said.writing]) closeSync(fd);
  endProgress();
  // git names the commit twice.
  process.stderr.write(text.replace(/^(hint: |Could not apply ).*\n/gm, ''));
  return exitCode;
}
