/** The rule of a command: a function from its arguments to other arguments; and what several rules share. */
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

/** Other refs for what no argument hides, if the command writes none. Before 2.54 `rewrite` has to do. */
export function replacingRefs(args: readonly string[], view: View, rewrite?: Rewrite): Rewrite | undefined {
  return !view.canReplaceRefs() ? rewrite : { ...(rewrite ?? { args }), replacesRefs: true };
}

/** Undefined: git gets the line as it was given. Only called if something is hidden. */
export type Rule = (args: readonly string[], view: View) => Rewrite | FilteredOutput | undefined;

/** A pattern that matches no ref: git-check-ref-format(1) forbids the character in names. */
const MATCHES_NO_REF = '^';

/** Bytes that a rewrite may add. Arguments and environment have 2 MiB on Linux by default, 1 MiB on macOS. */
const MAX_BYTES = 400_000;

/** Each word also costs a pointer and a NUL. */
const BYTES_PER_WORD = 9;

export function fitsCommandLine(words: readonly string[]): boolean {
  return words.reduce((sum, word) => sum + Buffer.byteLength(word) + BYTES_PER_WORD, 0) <= MAX_BYTES;
}

/** The visible refs among `refs`, or undefined when none of them is hidden. */
export function visibleAmong(refs: readonly string[], view: View): string[] | undefined {
  const visible = refs.filter((ref) => !view.isHidden(ref));
  return visible.length === refs.length ? undefined : visible;
}

/** The patterns, or one that matches nothing when there are none: without a pattern git would list everything. */
export function orMatchNothing(patterns: readonly string[]): readonly string[] {
  return patterns.length === 0 ? [MATCHES_NO_REF] : patterns;
}

/** The kept rows of an output without the blanks in a column that only other rows of `all` needed. */
export function narrowed(kept: readonly string[], all: readonly string[], column: RegExp): readonly string[] {
  const width = (row: string) => column.exec(row)?.[0].length ?? Number.POSITIVE_INFINITY;
  const spare = Math.min(...kept.map(width)) - Math.min(...all.map(width));
  if (!(spare > 0 && Number.isFinite(spare))) return kept;
  return kept.map((row) => row.replace(column, (blanks) => blanks.slice(spare)));
}
