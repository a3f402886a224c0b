/**
 * The command lines that are run in the twins. `!` marks a line that writes: it runs in a copy. ` <<< ` precedes standard
 * input. A line may name something that a repository lacks: errors must be git's own too.
 */
import { HISTORIES } from './lines/histories.ts';
import { OTHERS } from './lines/others.ts';
import { REFS } from './lines/refs.ts';

export const LINES: Record<string, readonly string[]> = { ...REFS, ...HISTORIES, ...OTHERS };

const PART = 4;

/** Every fourth line. The others are in the next turns: `turn` counts the repositories that run them. */
export function quarterOf(lines: readonly string[], turn: number): readonly string[] {
  if (process.env['AGT_TEST_ALL_LINES'] !== undefined) return lines;
  return lines.filter((_, n) => (n + turn) % PART === 0);
}
