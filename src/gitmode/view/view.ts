/** Facts for the rules, each computed when it is first asked for. Namespaces cost no child process. */
import type { AllPrefixes } from '../../filter/agent-refs.ts';
import { globsExcept } from '../../filter/globs.ts';
import { HEADS } from '../../git/files/ref-files.ts';
import type { GitAccess } from '../invocation.ts';

export interface View extends GitAccess {
  /** Hidden directories of refs, with their slash, that hold at least one hidden ref; in a sandbox also `refs/stash`. */
  readonly namespaces: readonly string[];
  /** The branch that is checked out here, if it is an agent's: it stays visible. */
  readonly currentAgentBranch: string | undefined;
  /** Ids of the other worktrees that belong to sessions; '' is the main worktree. */
  readonly hiddenWorktrees: readonly string[];
  readonly prefixes: AllPrefixes;
  /** Author address of hidden commits. */
  readonly agentEmail: string;
  /** Absolute path of the git directory of the current worktree. */
  readonly gitDir: string;
  readonly commonDir: string;
  /** Full names of all visible refs, in git's order. */
  visibleRefs(): readonly string[];
  /** Full names of all hidden refs, in git's order. */
  hiddenRefs(): readonly string[];
  isHidden(ref: string): boolean;
  /** Whether the name is in a hidden namespace, even if it is the branch that is checked out here. */
  isAgentRef(ref: string): boolean;
  /** Names of all objects in visible reflogs; undefined if the reflogs are no files here. */
  visibleReflogObjects(): readonly string[] | undefined;
  /** Whether a worktree belongs to a session and is not the current one; absolute path. */
  isHiddenWorktree(path: string): boolean;
  /** Every value of a configuration key, in git's order; the key as `git config --list` prints it. */
  config(key: string): readonly string[];
  /** Names of configured remotes. */
  remotes(): readonly string[];
  /** Whether every submodule has a remote of this name. */
  submodulesKnow(remote: string): boolean;
  /** Whether a commit by an agent is an ancestor of a visible ref. */
  hasVisibleAgentCommits(): boolean;
  /** Whether git can be given other refs: GIT_REFERENCE_BACKEND, from 2.54 on. */
  canReplaceRefs(): boolean;
  /** Whether this git can match Perl-compatible regular expressions. */
  hasPcre(): boolean;
  gitIsAtLeast(major: number, minor: number): boolean;
}

/** The repository has no hidden ref, and no other worktree of a session whose HEAD might lead to hidden commits. */
export function hasNothingToHide(view: View): boolean {
  return view.namespaces.length + view.hiddenWorktrees.length === 0;
}

/** Namespaces under `root`, relative to it; all of them, in full, when `root` is empty. */
export function namespacesUnder(view: View, root: string): string[] {
  return view.namespaces
    .filter((namespace) => namespace.startsWith(root))
    .map((namespace) => namespace.slice(root.length));
}

/** The agent's branch that is checked out here, relative to `root`, if it is under it. */
export function currentAgentBranchUnder(view: View, root: string): string | undefined {
  return view.currentAgentBranch?.startsWith(root) ? view.currentAgentBranch.slice(root.length) : undefined;
}

/** Patterns for the hidden refs under `root`, relative to it; `*` crosses slashes. */
export function hiddenGlobs(view: View, root: string): string[] {
  const current = currentAgentBranchUnder(view, root);
  return namespacesUnder(view, root).flatMap((namespace) => hiddenGlobsIn(namespace, current));
}

/** Patterns for the hidden refs in one namespace. */
export function hiddenGlobsIn(namespace: string, currentAgentBranch: string | undefined): string[] {
  return currentAgentBranch?.startsWith(namespace)
    ? globsExcept(currentAgentBranch, namespace)
    : [`${namespace}*`];
}

/** The value that counts: git takes the last. */
export function configValue(view: View, key: string): string | undefined {
  return view.config(key).at(-1);
}

/** True as git-config(1) defines it; a key without a value is true too. */
export function isConfigTrue(value: string | undefined): boolean {
  return value !== undefined && /^(true|yes|on|-?0*[1-9]\d*)$/i.test(value);
}

/** The short name of the current branch; undefined for a detached HEAD. */
export function currentBranch({ ask }: Pick<GitAccess, 'ask'>): string | undefined {
  const { exitCode, stdout } = ask(['symbolic-ref', '-q', 'HEAD']);
  const ref = exitCode === 0 ? stdout.trim() : undefined;
  return ref?.startsWith(HEADS) ? ref.slice(HEADS.length) : undefined;
}
