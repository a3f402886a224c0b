/** Replaces old names of options by the new ones, so that scripts go on working. */
import { type Command, findCommand } from './command.ts';

export function withNewNames(commands: readonly Command[], words: readonly string[]): string[] {
  const names = findCommand(commands, words)?.oldOptions ?? {};
  const end = words.indexOf('--');
  return words.map((word, i) => {
    const [, old = '', value = ''] = /^--([a-z-]+)(=.*)?$/s.exec(word) ?? [];
    const isOption = (end < 0 || i < end) && Object.hasOwn(names, old);
    return isOption ? `--${names[old]}${value}` : word;
  });
}
