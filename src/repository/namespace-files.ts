/** Paths of a session whose commands see the sandbox at the user's own path (workspace/namespace.ts). */
import { basename, dirname, join } from 'node:path';

/** Files in the session folder. Captures and forks pass over names that begin with `.agt-`. */
export function namespaceFiles(sessionFolder: string) {
  const directory = join(sessionFolder, NAMESPACE);
  const inIt = (name: string) => join(directory, name);
  return {
    directory,
    /** Where the common git directory stands meanwhile. */
    gitDirectory: inIt('.git'),
    /** Where the sandbox's registration stands meanwhile. */
    registration: inIt('registration'),
    /** Names the user's path. */
    path: inIt('path'),
    gitFile: inIt('git-file'),
    gitdir: inIt('gitdir'),
    bin: inIt('bin'),
  };
}

const NAMESPACE = '.agt-namespace';

/** The session folder, if a common git directory stands in one meanwhile. */
export function folderOfNamespace(commonDir: string): string | undefined {
  const directory = dirname(commonDir);
  return basename(directory) === NAMESPACE && basename(commonDir) === '.git' ? dirname(directory) : undefined;
}
