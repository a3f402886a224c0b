/** Options of git that a command of agt hands on as they are. */
import { type Command, findCommand } from './command.ts';

/**
 * Takes them out of a command line. A declaration has them in the notation of `git diff --git-completion-helper`: `=` if a
 * value is needed, which may be the next word; an option without it may have one in the same word.
 */
export function takeGitOptions(commands: readonly Command[], given: readonly string[]) {
  const { gitOptions: known, options = {} } = findCommand(commands, given) ?? {};
  const [words, gitOptions]: [string[], string[]] = [[], []];
  const left = [...given];
  while (known !== undefined && left.length > 0 && left[0] !== '--') {
    const isOwn = Object.hasOwn(options, left[0]?.replace(/^--/, '') ?? '');
    const length = isOwn ? 0 : lengthOfOption(known, left);
    (length > 0 ? gitOptions : words).push(...left.splice(0, length || 1));
  }
  return { words: [...words, ...left], gitOptions };
}

/** How many of the words are the option that they begin with. */
function lengthOfOption(known: ReadonlySet<string>, [word = '', next]: readonly string[]): number {
  const name = (/^--[^=]+/.exec(word) ?? /^-[a-zA-Z]/.exec(word) ?? [''])[0];
  const hasValue = word !== name;
  if (known.has(`${name}=`)) return hasValue || next === undefined ? 1 : 2;
  return known.has(name) && (!hasValue || /^--|^-[BMU]/.test(name)) ? 1 : 0;
}
