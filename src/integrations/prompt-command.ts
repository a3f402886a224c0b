/**
 * A prompt that is a command of agt: `agt undo`. The hook answers it, so a person goes back without a request to the
 * model. The prompt has to be that and nothing else.
 */
export type PromptCommand =
  | { readonly command: 'undo' | 'redo' | 'snapshots' }
  | { readonly command: 'restore'; readonly to: string }
  /** A command with options or arguments that a prompt cannot have. */
  | { readonly command: 'mistaken'; readonly words: string; readonly meant?: readonly string[] };

/** `agt` and one word, which is none of the commands. */
export function unknownPromptWord(prompt: string): string | undefined {
  const word = PROMPT.exec(prompt)?.slice(1).join(' ').trim().toLowerCase();
  return word === undefined || /\s/.test(word) || PROMPT_WORDS.includes(word) ? undefined : word;
}

/** One word may end as a sentence does; a label may have a full stop of its own. */
const PROMPT = /^\s*\/?agt\s+(\S+?)(?:[.!]*|\s+(\S.*?))\s*$/i;

/** Undefined for a prompt that the model answers. */
export function parsePromptCommand(prompt: string): PromptCommand | undefined {
  const words = PROMPT.exec(prompt);
  if (words === null) return undefined;
  const [, word = '', argument] = words;
  const command = word.toLowerCase();
  if (command === 'restore') {
    if (argument === undefined) return { command: 'mistaken', words: command };
    const to = argument.replace(/^--to\s+/, '');
    if (/(^|\s)-/.test(to)) return { command: 'mistaken', words: `${command} ${argument}` };
    return { command, to: to.replace(/^(["'])(.*)\1$/, '$2') };
  }
  const known = ALIASES.get(command);
  if (known === undefined || argument === undefined) return known && { command: known };
  // With other words after it, it is a sentence about agt.
  return /^(\d+|-\S*)(\s+-\S*)*$/.test(argument)
    ? { command: 'mistaken', words: `${command} ${argument}` }
    : undefined;
}

const ALIASES = new Map<string, 'undo' | 'redo' | 'snapshots'>([
  ['undo', 'undo'],
  ['redo', 'redo'],
  ['snapshots', 'snapshots'],
  ['states', 'snapshots'],
  ['log', 'snapshots'],
]);

export const PROMPT_WORDS: readonly string[] = [...ALIASES.keys(), 'restore'];
