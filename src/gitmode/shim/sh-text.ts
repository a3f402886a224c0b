/** Pieces of the shim's text that several of its parts have. */
import { branchNamespaces, type Prefixes } from '../../filter/agent-refs.ts';
import { agtDirectory, shimFactsFile } from '../../layout.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import type { OptionTable } from '../command-line/options.ts';

/** agt's directory in the repository. */
export const AGT = agtDirectory('$agt_common');

/** The facts that the executable left for this worktree. */
export const FACTS = shimFactsFile('$agt_git');

/** Names of the two directories of branches: `agtsessions`, `agt`. */
export function namesOf({ branchPrefix, workPrefix }: Prefixes): string[] {
  return [branchPrefix, workPrefix].map(withoutSlash);
}

export function withoutSlash(name: string): string {
  return name.replace(/\/$/, '');
}

/** A pattern of `case` for every text that starts so. */
export function patternFor(start: string): string {
  return `${shellQuote(start)}?*`;
}

/** The words of a `case`, on lines that are not too long. */
export function caseList(words: readonly string[], indent = ''): string {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 100) lines.push(word);
    else lines[lines.length - 1] = `${last} | ${word}`;
  }
  return `${indent}${lines.join(` | \\\n  ${indent}`)})`;
}

/**
 * Adds `option` before the pattern for a namespace; of the namespace with the agent's branch that is checked out here,
 * the patterns for the others. `root` is taken off the start of these.
 */
export function butCurrent(
  option: string,
  namespace: string,
  root: string,
  pattern: string,
  prefixes: Prefixes,
): string {
  const whole = `agt_add="$agt_add ${option}${pattern}"`;
  if (!branchNamespaces([prefixes]).includes(namespace)) return `  ${whole}`;
  return `  case $agt_current in
  ${patternFor(namespace)}) agt_but_current ${shellQuote(option)} ${shellQuote(namespace)} ${shellQuote(root)} ;;
  *) ${whole} ;;
  esac`;
}

/**
 * The options of a command as patterns of `case`, from the table that its rule has. Abbreviations are left out. `isWanted`
 * is asked for the long name, or for the letter of an option without one. `whole`: with their value; the others take the
 * next word, if there is one.
 */
export function optionWords(table: OptionTable, isWanted: (name: string) => boolean) {
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
