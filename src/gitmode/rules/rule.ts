/** What a command's rule answers. */
import type { View } from '../view/view.ts';

/** A command line to become instead; each part as given where it is left out. */
export interface Rewrite {
  readonly command?: string;
  readonly args: readonly string[];
  /** `key=value`, given to git by `-c` in front of the command. */
  readonly config?: readonly string[];
}

/** Output that no argument can produce: printed by agt itself. */
export interface Rendering {
  readonly render: () => number;
}

export type Rule = (args: readonly string[], view: View) => Rewrite | Rendering | undefined;
