/** The rule of a command: a function from its arguments to other arguments. */
import type { GitOutput } from '../../git/run/run-sync.ts';
import type { View } from '../view/view.ts';

/** The command line that git gets instead; a part that is left out stays as it was given. */
export interface Rewrite {
  readonly command?: string;
  readonly args: readonly string[];
  /** `key=value`, passed to git as `-c` before the command. */
  readonly config?: readonly string[];
  /** Variables for git's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** git sees refs without the hidden ones (view/replaced-refs.ts). */
  readonly replacesRefs?: true;
}

/** Output that no argument can produce: agt runs git, and prints git's output without what is hidden. */
export interface FilteredOutput {
  readonly filtered: () => GitOutput;
}

/**
 * For what no argument hides: git also gets refs without the hidden ones. Only if the command writes no ref. Before git
 * 2.54, `rewrite` alone has to do.
 */
export function replacingRefs(args: readonly string[], view: View, rewrite?: Rewrite): Rewrite | undefined {
  return !view.canReplaceRefs() ? rewrite : { ...(rewrite ?? { args }), replacesRefs: true };
}

/** Undefined: git gets the line as it was given. Only called if something is hidden. */
export type Rule = (args: readonly string[], view: View) => Rewrite | FilteredOutput | undefined;
