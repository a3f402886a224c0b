/** Options of the agt of simbo1905 that have another name here: its scripts go on working. */
import { type Command, findCommand } from './command.ts';

const NEW_NAMES = new Map([
  ['session-id', 'session'],
  ['id', 'session'],
  ['from', 'session'],
  ['commit', 'to'],
]);

export function withNewNames(commands: readonly Command[], words: readonly string[]): string[] {
  const options = findCommand(commands, words)?.options ?? {};
  const end = words.indexOf('--');
  return words.map((word, i) => {
    const [, old = '', value = ''] = /^--([a-z-]+)(=.*)?$/s.exec(word) ?? [];
    const name = NEW_NAMES.get(old);
    const isOption = (end < 0 || i < end) && !Object.hasOwn(options, old);
    return isOption && name !== undefined && Object.hasOwn(options, name) ? `--${name}${value}` : word;
  });
}
