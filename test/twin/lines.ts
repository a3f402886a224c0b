/**
 * The table of command lines that the twins run. `!` in front: the line writes and gets a copy of its own. ` <<< `:
 * standard input. A name that one shape lacks is no waste: errors must be git's own too.
 */
import { HISTORIES } from './lines/histories.ts';
import { OTHERS } from './lines/others.ts';
import { REFS } from './lines/refs.ts';

export const LINES: Record<string, readonly string[]> = { ...REFS, ...HISTORIES, ...OTHERS };
