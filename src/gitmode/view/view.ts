/**
 * What a rule may know about the repository. Everything is worked out when first asked for: most rules need the spaces
 * alone, which cost a look at a few files and no child process.
 */

import type { Prefixes } from '../../filter/agent-refs.ts';
import { allBut } from '../../filter/globs.ts';
import type { GitOutput } from '../../git/run/run-sync.ts';

export interface View {
  /** Hidden directories of refs, with their slash, that hold at least one hidden ref. */
  readonly spaces: readonly string[];
  /** The branch checked out here, where it lies in one of the spaces: it stays visible. */
  readonly current: string | undefined;
  /** Ids of the other linked worktrees that belong to sessions. */
  readonly worktrees: readonly string[];
  readonly prefixes: Prefixes;
  /** Author address of hidden commits. */
  readonly agentEmail: string;
  /** Full names of all refs but the hidden ones, in git's order. */
  visibleRefs(): readonly string[];
  /** Full names of the hidden ones. */
  hiddenRefs(): readonly string[];
  isHidden(ref: string): boolean;
  /** Every value of a configuration key, in git's order; key as `git config --list` prints it. */
  config(key: string): readonly string[];
  /** Names of configured remotes. */
  remotes(): readonly string[];
  /** Spaces that another repository may hold: the local ones, whether or not this one has something in them. */
  readonly hiddenOnRemotes: readonly string[];
  /** Whether a name lies in a hidden space anywhere; the branch checked out here is no exception. */
  isHiddenName(ref: string): boolean;
  /** Whether a worktree belongs to a session and is not the current one; absolute path. */
  isSandbox(path: string): boolean;
  /** Runs the real git on the user's terminal, with its standard output captured. */
  show(args: readonly string[]): GitOutput;
  /** Writes to standard output. */
  print(text: string): void;
  /** Asks the real git in this repository. */
  ask(args: readonly string[], input?: string): GitOutput;
  /** True from git `major.minor` on. */
  gitIsAtLeast(major: number, minor: number): boolean;
  /** Whether a commit by an agent is an ancestor of something visible. */
  agentsInHistory(): boolean;
  /** Whether this git has PCRE. */
  hasPerlPatterns(): boolean;
  /** Absolute path of the git directory of the current worktree. */
  readonly gitDir: string;
  readonly commonDir: string;
}

export const HEADS = 'refs/heads/';
export const TAGS = 'refs/tags/';
export const REMOTES = 'refs/remotes/';

/** No hidden ref, and no other worktree of a session whose HEAD might lead to hidden commits. */
export function hidesNothing(view: View): boolean {
  return view.spaces.length + view.worktrees.length === 0;
}

/** Spaces under `root`, relative to it; an empty root gives them as they are. */
export function spacesUnder(view: View, root: string): string[] {
  return view.spaces.filter((space) => space.startsWith(root)).map((space) => space.slice(root.length));
}

/** The kept branch relative to `root`, if it lies there. */
export function currentUnder(view: View, root: string): string | undefined {
  return view.current?.startsWith(root) ? view.current.slice(root.length) : undefined;
}

/** Patterns for what is hidden under `root`, relative to it, where `*` crosses slashes. */
export function hiddenGlobs(view: View, root: string): string[] {
  const current = currentUnder(view, root);
  return spacesUnder(view, root).flatMap((space) =>
    current?.startsWith(space) ? allBut(current, space) : [`${space}*`],
  );
}

export function lastConfig(view: View, key: string): string | undefined {
  return view.config(key).at(-1);
}

/** git-config(1)'s notion of true; a key without a value is true too. */
export function configIsTrue(value: string | undefined): boolean {
  return value !== undefined && /^(true|yes|on|-?0*[1-9]\d*)$/i.test(value);
}
