/** Leaves out changed paths that the user does not want. */
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, listSome } from '../errors.ts';
import { type DiffEntry, diffTrees, editsOf } from '../git/objects/raw-diff.ts';
import { editTree, withIndex } from '../git/objects/scratch-index.ts';
import type { Git } from '../git/run/git.ts';
import type { AcceptRequest } from './accept-request.ts';
import { wayWithout } from './landing-errors.ts';
import type { Merged, Workbench } from './workbench.ts';

interface Patterns {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** The tree with the chosen changes since `base` alone, and readable paths of the others. */
export async function choosePaths(
  bench: Workbench,
  { base, tree, unstorable }: { base: string; tree: string; unstorable: readonly string[] },
  { include, exclude }: Patterns,
) {
  if (include.length === 0 && exclude.length === 0) return { tree, leftOut: [] };
  const { git } = bench;
  const wanted = await matcher({ include, exclude });
  const changes = await diffTrees(git, base, tree);
  for (const pattern of exclude) {
    const excludes = await matcher({ include: [pattern], exclude: [] });
    if ([...changes.map(({ path }) => displayPath(path)), ...unstorable].some(excludes)) continue;
    throw noMatch(`--exclude "${pattern}" matches no changed file`, changes);
  }
  const left = changes.filter(({ path }) => !wanted(displayPath(path)));
  if (left.length === changes.length) throw noMatch('the patterns leave no changed file', changes);
  const chosen = await leaveOut(bench, tree, left);
  const taken = await diffTrees(git, base, chosen.tree);
  if (taken.length !== changes.length - left.length) {
    throw new AgtError('the patterns take only a part of a file that became a directory, or the reverse', {
      hints: ['change the patterns so that they match all of it or nothing'],
    });
  }
  return chosen;
}

/** @throws AgtError for files that no commit of git can hold, unless the user leaves them out */
export async function refuseUnstorable(id: string, paths: readonly string[], request: AcceptRequest) {
  const { include, exclude, untracked, committedOnly } = request;
  if (committedOnly || untracked === 'none') return;
  const wanted = await matcher({ include, exclude });
  const taken = paths.filter(wanted);
  if (taken.length === 0) return;
  const way = wayWithout(id, request, taken);
  throw new AgtError(`git cannot store ${listSome(taken)}, and nothing has changed`, {
    hints: [way.hint, 'or rename it in the sandbox'],
    ways: [way],
  });
}

function noMatch(problem: string, changes: readonly DiffEntry[]): AgtError {
  const paths = listSome(changes.map(({ path }) => displayPath(path))) || 'none';
  return new AgtError(`${problem}, and nothing has changed`, { hints: [`these would land: ${paths}`] });
}

/** The tree as it was before these changes. */
export async function leaveOut({ git, index }: Workbench, tree: string, left: readonly DiffEntry[]) {
  if (left.length === 0) return { tree, leftOut: [] };
  return {
    tree: await editTree(withIndex(git, index), { tree }, editsOf(left, 'before')),
    leftOut: [...new Set(left.map(({ path }) => displayPath(path)))],
  };
}

/** The syntax of fast-glob, which reads patterns with this library. A directory stands for all that is in it. */
export async function matcher({ include, exclude }: Patterns): Promise<(path: string) => boolean> {
  const { default: micromatch } = await import('micromatch');
  const options = { dot: true };
  const withContent = (patterns: readonly string[]) =>
    patterns.flatMap((pattern) => {
      const plain = pattern.replace(/\/+$/, '');
      // As in a .gitignore file, a pattern without a slash is for names in every directory.
      const glob = plain.includes('/') ? plain.replace(/^\.?\//, '') : `**/${plain}`;
      return [glob, `${glob}/**`];
    });
  const included = withContent(include);
  const excluded = withContent(exclude);
  return (path) =>
    (included.length === 0 || micromatch.isMatch(path, included, options)) &&
    !(excluded.length > 0 && micromatch.isMatch(path, excluded, options));
}

/** Of what stays out, what the branch at `tree` lacks. `mergeAll`: merges it with all of the work. */
export async function pathsLacking(
  git: Git,
  leftOut: readonly string[],
  tree: string,
  mergeAll: () => Promise<{ readonly merged: Merged }>,
): Promise<readonly string[]> {
  const { merged } = leftOut.length === 0 ? { merged: undefined } : await mergeAll();
  if (merged === undefined || merged.conflicts !== undefined) return leftOut;
  const rest = new Set((await diffTrees(git, tree, merged.tree)).map(({ path }) => displayPath(path)));
  // The branch may have renamed a file, or hunks stay out.
  return rest.isSubsetOf(new Set(leftOut)) ? leftOut.filter((path) => rest.has(path)) : leftOut;
}
