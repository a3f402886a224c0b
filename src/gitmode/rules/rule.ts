/** The rule of a command: a function from its arguments to other arguments. */
import type { View } from '../view/view.ts';

/** The command line that git gets instead; a part that is left out stays as it was given. */
export interface Rewrite {
  readonly command?: string;
  readonly args: readonly string[];
  /** `key=value`, passed to git as `-c` before the command. */
  readonly config?: readonly string[];
  /** Variables for git's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Output that no argument can produce: agt runs git, and prints git's output without what is hidden. */
export interface FilteredOutput {
  /** Returns the exit code. */
  readonly printFiltered: () => number;
}

/** Undefined: git gets the line as it was given. */
export type Rule = (args: readonly string[], view: View) => Rewrite | FilteredOutput | undefined;
