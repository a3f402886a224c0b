/** Twins of random content. */
import { join } from 'node:path';
import { git, makeTempDir, REAL_GIT, run } from '../harness/world.ts';
import { addSession, clock, commit, gitAt, initial } from './repositories.ts';
import { SIDES, type Twin } from './shapes.ts';

/** The content of a random pair of repositories. */
export interface Recipe {
  readonly commits: number;
  readonly branches: readonly { readonly name: string; readonly at: number }[];
  readonly tags: readonly { readonly name: string; readonly at: number; readonly annotated: boolean }[];
  readonly sessions: readonly { readonly id: string; readonly at: number; readonly worktree: boolean }[];
  readonly merge: boolean;
  readonly detached: boolean;
  readonly packed: boolean;
}

export function buildRandomTwin(recipe: Recipe): Twin {
  const root = makeTempDir('random');
  for (const side of SIDES) {
    const project = join(root, side, 'project');
    initial(project);
    for (let n = 0; n < recipe.commits; n++) commit(project, n, `commit ${n}`);
    const at = (n: number) => `main~${n % recipe.commits}`;
    for (const { name, at: n } of recipe.branches) {
      run(REAL_GIT, ['branch', name, at(n)], { cwd: project }); // fails if one name is the directory of another
    }
    for (const { name, at: n, annotated } of recipe.tags) {
      run(REAL_GIT, ['tag', ...(annotated ? ['-m', 'tag'] : []), name, at(n)], {
        cwd: project,
        env: clock(70),
      });
    }
    if (recipe.merge && recipe.commits > 2) {
      gitAt(project, 71, ['checkout', '-q', '-b', 'side', 'main~1']);
      commit(project, 72, 'on the side', 'side.txt');
      gitAt(project, 73, ['checkout', '-q', 'main']);
      gitAt(project, 73, ['merge', '-q', '--no-edit', 'side']);
    }
    if (recipe.detached) gitAt(project, 74, ['checkout', '-q', '--detach']);
  }
  const project = join(root, 'with', 'project');
  for (const { id, at: n, worktree } of recipe.sessions) {
    addSession(project, id, `main~${n % recipe.commits}`, worktree);
  }
  if (recipe.packed) git(project, 'pack-refs', '--all');
  return { name: 'random', root, cwd: 'project' };
}
