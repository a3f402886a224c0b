/**
 * The names of remotes, here and in submodules. Settings by `-c` also reach the git that a fetch starts in each submodule, where a setting of
 * an unknown remote would make one without a URL. Limit: a submodule whose git directory is inside its own folder is not seen.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { subdirectories } from '../../git/files/ref-files.ts';

/** From the repository's own file: only the names matter, and an included file rarely names a remote. */
export function configuredRemotes(commonDir: string): string[] {
  const text = readSmallFile(join(commonDir, 'config')) ?? '';
  return [...text.matchAll(/^\s*\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]/gim)].map((match) =>
    (match[1] ?? '').replace(/\\(.)/g, '$1'),
  );
}

/** Whether every submodule has a remote of this name. */
export function submodulesKnow(remote: string, gitDirs: readonly string[]): boolean {
  return gitDirs
    .flatMap((gitDir) => repositoriesBelow(join(gitDir, 'modules')))
    .every((gitDir) => configuredRemotes(gitDir).includes(remote));
}

/** The name of a submodule may hold slashes, and a submodule may have submodules. */
function repositoriesBelow(dir: string): string[] {
  return subdirectories(dir).flatMap((name) => {
    const path = join(dir, name);
    return existsSync(join(path, 'HEAD'))
      ? [path, ...repositoriesBelow(join(path, 'modules'))]
      : repositoriesBelow(path);
  });
}
