/** The options of a command as patterns of sh's `case`, from the table that its rule has. Abbreviations are left out. */
import type { OptionTable } from '../command-line/options.ts';

interface OptionWords {
  /** With their value, if they have one. */
  readonly whole: readonly string[];
  /** They need the next word as their value. */
  readonly takesNext: readonly string[];
  /** They take the next word as their value, if there is one. */
  readonly mayTakeNext: readonly string[];
}

/** `isWanted` is asked for the long name, or for the letter of an option without one. */
export function optionWords(table: OptionTable, isWanted: (name: string) => boolean): OptionWords {
  const words = { whole: [] as string[], takesNext: [] as string[], mayTakeNext: [] as string[] };
  for (const [word, { name, takes, negatable }] of table()) {
    if (!isWanted(name)) continue;
    const isLong = word.startsWith('--');
    if (takes === 'nothing' || takes === 'attached') words.whole.push(word);
    if (takes === 'attached' && isLong && negatable) words.whole.push(`--no-${name}`);
    if (takes !== 'nothing') words.whole.push(isLong ? `${word}=*` : `${word}?*`);
    if (takes === 'required') words.takesNext.push(word);
    if (takes === 'last') words.mayTakeNext.push(word);
  }
  return words;
}
