/**
 * A place for a merge that touches no worktree: a git directory, an index and a work tree of its own in a scratch
 * directory. Its HEAD names the branch that takes the work, so a hook sees that branch.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withScratchObjects } from '../git/objects/scratch-objects.ts';
import type { Git } from '../git/run/git.ts';
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

interface WorkbenchOptions {
  /** The branch; a full name. */
  readonly ref: string;
  readonly dryRun: boolean;
}

export function withWorkbench<T>(
  repository: Repository,
  { ref, dryRun }: WorkbenchOptions,
  action: (bench: Workbench) => Promise<T>,
): Promise<T> {
  return withScratchObjects(repository, ({ git: scratch, dir }) => {
    const { git, commonDir } = repository;
    const [gitDir, tree, index] = ['git', 'tree', 'index'].map((name) => join(dir, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(tree);
    mkdirSync(gitDir);
    writeFileSync(join(gitDir, 'HEAD'), `ref: ${ref}\n`);
    writeFileSync(join(gitDir, 'commondir'), `${commonDir}\n`);
    const objects = dryRun ? { GIT_OBJECT_DIRECTORY: scratch.env['GIT_OBJECT_DIRECTORY'] ?? '' } : {};
    const own = { GIT_DIR: gitDir, GIT_WORK_TREE: tree, GIT_INDEX_FILE: index, ...objects };
    return action({ git: { ...git, cwd: tree, env: { ...git.env, ...own } }, dir, index, objects });
  });
}
