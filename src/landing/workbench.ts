/**
 * A place for a merge that touches no worktree: a git directory, an index and a work tree of its own in a scratch
 * directory. Its HEAD names the branch that takes the work, so a hook sees that branch. There agt merges exactly as `git
 * merge` does in a clean checkout.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { displayPath } from '../disk/path-bytes.ts';
import { layOutAttributes } from '../git/objects/attributes.ts';
import { plainCommit } from '../git/objects/scratch-index.ts';
import { withScratchObjects } from '../git/objects/scratch-objects.ts';
import { FSYNC_ARGS, type Git, gitFailed, gitText, runGit } from '../git/run/git.ts';
import { reportProgress } from '../process/progress.ts';
import type { Repository } from '../repository/repository.ts';

export interface Workbench {
  /** Runs in the work tree of the workbench, with its index. */
  readonly git: Git;
  /** Absolute. */
  readonly dir: string;
  readonly index: string;
  /** For calls in other worktrees: in a dry run it makes git write no object into the repository. */
  readonly objects: Readonly<Record<string, string>>;
}

/** `ref`: the branch; a full name. */
export function withWorkbench<T>(
  repository: Repository,
  { ref, dryRun }: { readonly ref: string; readonly dryRun: boolean },
  action: (bench: Workbench) => Promise<T>,
): Promise<T> {
  return withScratchObjects(repository, ({ git: scratch, dir }) => {
    const { git, commonDir } = repository;
    const [gitDir, tree, index] = [join(dir, 'git'), join(dir, 'tree'), join(dir, 'index')];
    mkdirSync(tree);
    mkdirSync(gitDir);
    writeFileSync(join(gitDir, 'HEAD'), `ref: ${ref}\n`);
    writeFileSync(join(gitDir, 'commondir'), `${commonDir}\n`);
    const objects = dryRun ? { GIT_OBJECT_DIRECTORY: scratch.env['GIT_OBJECT_DIRECTORY'] ?? '' } : {};
    const own = { GIT_DIR: gitDir, GIT_WORK_TREE: tree, GIT_INDEX_FILE: index, ...objects };
    return action({ git: { ...git, cwd: tree, env: { ...git.env, ...own } }, dir, index, objects });
  });
}

export interface Conflict {
  /** In readable form. */
  readonly path: string;
  /** As git calls it: `content`, `modify/delete`, `add/add`. */
  readonly kind: string;
}

export type Merged =
  | { readonly tree: string; readonly conflicts?: undefined }
  /** The tree has conflict markers. */
  | { readonly tree: string; readonly conflicts: readonly Conflict[] };

export async function mergeInMemory(bench: Workbench, ours: string, theirs: string): Promise<Merged> {
  reportProgress('merging');
  await layOutAttributes(bench.git, ours);
  const words = ['merge-tree', '--write-tree', '--allow-unrelated-histories', '-z'];
  const args = [...FSYNC_ARGS, ...words, ours, theirs];
  const run = await runGit(bench.git, args);
  if (run.exitCode !== 0 && run.exitCode !== 1) throw gitFailed(args, run);
  const fields = run.stdout.toString('latin1').split('\0');
  const [tree = '', ...rest] = fields;
  return run.exitCode === 0 ? { tree } : { tree, conflicts: parseConflicts(rest, [ours, theirs]) };
}

export interface Sides {
  /** Trees, or names of commits; undefined: nothing. */
  readonly base: string | undefined;
  readonly ours: string;
  readonly theirs: string;
}

/** git 2.39 finds the base itself, and merges only commits. So agt gives it three commits with no other history. */
export async function mergeWithBase(bench: Workbench, { base, ours, theirs }: Sides): Promise<Merged> {
  const { git } = bench;
  const baseTree = base === undefined ? await gitText(git, ['mktree'], { input: '' }) : base;
  const root = await plainCommit(git, `${baseTree}^{tree}`, []);
  const commitOf = (side: string) => plainCommit(git, `${side}^{tree}`, [root]);
  return mergeInMemory(bench, await commitOf(ours), await commitOf(theirs));
}

/** git puts a file that is in the way of the other side beside it: `path~SIDE`. */
export function withoutSide(path: string, sides: readonly string[]): string {
  const end = sides.map((side) => `~${side.replaceAll('/', '_')}`).find((one) => path.endsWith(one));
  return path.slice(0, path.length - (end?.length ?? 0));
}

/** The stages of each path in conflict, an empty field, then messages: a count, so many paths, a type, a text. */
function parseConflicts(fields: readonly string[], sides: readonly string[]): Conflict[] {
  const end = fields.indexOf('');
  const named = (path = '') => withoutSide(path, sides);
  const stages = fields.slice(0, end);
  const kinds = new Map(stages.map((field) => [named(field.slice(field.indexOf('\t') + 1)), 'content']));
  for (let i = end + 1; i < fields.length - 1; ) {
    const count = Number(fields[i]);
    const kind = /^CONFLICT \(([^)]+)\)/.exec(fields[i + count + 2] ?? '')?.[1];
    if (kind !== undefined && count > 0) kinds.set(named(fields[i + 1]), kind);
    i += count + 3;
  }
  return [...kinds].map(([path, kind]) => ({ path: displayPath(path), kind }));
}
