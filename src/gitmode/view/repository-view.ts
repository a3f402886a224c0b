/** The view of a real repository: from its files where they are enough, and else from git. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { prefixesInUse } from '../../config/prefixes.ts';
import { readSmallFile } from '../../disk/read-file.ts';
import { configValues } from '../../git/files/config-file.ts';
import { hasRefFiles, subdirectories } from '../../git/files/ref-files.ts';
import { isAtLeast, parseGitVersion } from '../../git/run/version.ts';
import { agtDirectory } from '../../layout.ts';
import { once } from '../../once.ts';
import { sessionOfWorktree } from '../guard/sessions.ts';
import type { Invocation } from '../invocation.ts';
import { findHiddenRefs } from './hidden-refs.ts';
import { objectsOfVisibleReflogs } from './reflogs.ts';
import type { View } from './view.ts';
import { findVisibleAgentCommits } from './visible-agent-commits.ts';
import { findHiddenWorktrees, headReader } from './worktrees.ts';

/** Undefined outside a repository. */
export function openView(invocation: Invocation): View | undefined {
  const { repository } = invocation;
  if (repository === undefined) return undefined;
  const { settings, env } = invocation;
  const { ask, capture } = invocation.git;
  const { commonDir, gitDir } = repository;
  const remotes = once(() => configuredRemotes(commonDir));
  const refFiles = hasRefFiles(commonDir, env);
  const readHead = headReader(repository, refFiles, ask);
  const prefixes = prefixesInUse(agtDirectory(commonDir), settings);
  const currentBranch = () => readHead(gitDir);
  const hasOwnStash = () => sessionOfWorktree(repository) !== undefined;
  const refs = findHiddenRefs({ commonDir, refFiles, prefixes, remotes, currentBranch, hasOwnStash, ask });
  const worktrees = once(() => findHiddenWorktrees(repository, readHead, refs.isAgentRef));
  const configuration = once(() => configValues(ask(['config', '--null', '--list']).stdout));
  const version = once(() => parseGitVersion(ask(['version']).stdout) ?? { major: 0, minor: 0 });
  const view: View = {
    ask,
    capture,
    gitDir,
    commonDir,
    prefixes,
    agentEmail: settings.agentEmail,
    get namespaces() {
      return refs.namespaces();
    },
    get currentAgentBranch() {
      return refs.currentAgentBranch();
    },
    get hiddenWorktrees() {
      return worktrees().map(({ id }) => id);
    },
    visibleRefs: refs.visibleRefs,
    hiddenRefs: refs.hiddenRefs,
    isHidden: refs.isHidden,
    isAgentRef: refs.isAgentRef,
    visibleReflogObjects: once(() => (refFiles ? objectsOfVisibleReflogs(view) : undefined)),
    isHiddenWorktree: (path) => worktrees().some((worktree) => worktree.path === path),
    config: (key) => configuration().get(key) ?? [],
    remotes,
    submodulesKnow: (remote) => submodulesKnow(remote, [...new Set([commonDir, gitDir])]),
    hasVisibleAgentCommits: once(() => findVisibleAgentCommits(view)),
    canReplaceRefs: once(() => refFiles && isAtLeast(version(), 2, 54)),
    hasPcre: once(() => ask(['log', '-P', '--author=x', '--max-count=0']).exitCode === 0),
    gitIsAtLeast: (major, minor) => isAtLeast(version(), major, minor),
  };
  return view;
}

/** From the repository's own file: only the names matter, and an included file rarely names a remote. */
function configuredRemotes(commonDir: string): string[] {
  const text = readSmallFile(join(commonDir, 'config')) ?? '';
  return [...text.matchAll(/^\s*\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]/gim)].map((match) =>
    (match[1] ?? '').replace(/\\(.)/g, '$1'),
  );
}

/**
 * Whether every submodule has a remote of this name. Settings by `-c` also reach the git that a fetch starts in each
 * submodule, where a setting of an unknown remote would make one without a URL. Limit: a submodule whose git
 * directory is inside its own folder is not seen.
 */
function submodulesKnow(remote: string, gitDirs: readonly string[]): boolean {
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
