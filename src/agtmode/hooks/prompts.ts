/** Prompts that are commands and nothing else: `agt undo`. The hook answers them, without the model. */
import { similar } from '../command-line/similar.ts';

/** The command line that each prompt stands for. A person says yes to the plan that the prompt before has shown. */
export const PROMPTS: ReadonlyMap<string, string> = new Map([
  ['undo', 'session undo --turn'],
  ['undo turn', 'session undo --turn'],
  ['undo step', 'session undo'],
  ['redo', 'session redo --turn'],
  ['redo turn', 'session redo --turn'],
  ['redo step', 'session redo'],
  // So many fit on a screen.
  ['snapshots', 'session log --number 15'],
  ['states', 'session log --number 15'],
  ['log', 'session log --number 15'],
  ['status', 'status'],
  ['list', 'session list'],
  // The agent works in the sandbox, so the session goes on.
  ['accept', 'session accept --keep --dry-run'],
  ['accept yes', 'session accept --keep'],
  // The command that runs in the session is the agent that asks.
  ['reject', 'session reject --running --dry-run'],
  ['reject yes', 'session reject --running'],
]);

const WORDS = [...new Set([...PROMPTS.keys()].map((words) => words.replace(/ .*/, ''))), 'restore'];

export interface PromptCommand {
  /** The words after `agt`, as `PROMPTS` has them; or those of `agt restore`. */
  readonly words: string;
  /** The snapshot that `agt restore` brings back. */
  readonly to?: string;
  /** No command, although it looks like one; the words that it may have meant. */
  readonly mistakenFor?: readonly string[];
}

/** One word may end as a sentence does; a label may have a full stop of its own. */
const PROMPT = /^\s*\/?agt\s+(\S+?)(?:[.!]*|\s+(\S.*?))\s*$/i;

/** Undefined for a prompt that the model answers. */
export function parsePrompt(prompt: string): PromptCommand | undefined {
  const [, first = '', argument] = PROMPT.exec(prompt) ?? [];
  const word = first.toLowerCase();
  if (word === 'restore') return restoreOf(argument);
  const words = argument === undefined ? word : `${word} ${argument.toLowerCase().replace(/[.!]+$/, '')}`;
  if (PROMPTS.has(words)) return { words };
  // With other words after it, it is a sentence about agt.
  if (argument !== undefined)
    return WORDS.includes(word) && /^(\d+|-\S*)(\s+-\S*)*$/.test(argument)
      ? { words: `${word} ${argument}`, mistakenFor: [] }
      : undefined;
  const meant = similar(word, WORDS);
  return meant.length === 0 ? undefined : { words, mistakenFor: meant };
}

function restoreOf(argument: string | undefined): PromptCommand {
  if (argument === undefined) return { words: 'restore', mistakenFor: [] };
  const to = argument.replace(/^--to\s+/, '');
  return /(^|\s)-/.test(to)
    ? { words: `restore ${argument}`, mistakenFor: [] }
    : restoreTo(to.replace(/^(["'])(.*)\1$/, '$2'));
}

export function restoreTo(to: string): PromptCommand {
  return { words: `restore ${to}`, to };
}
