/** Prompts that are commands and nothing else: `agt undo`. The hook answers them, without the model. */
import { attempt } from '../../errors.ts';
import { similar } from '../../similar.ts';
import { splitAtRest } from '../command-line/parse-without-yargs.ts';

/** The command line that each prompt stands for. A person says yes to the plan that the prompt before has shown. */
export const PROMPTS: ReadonlyMap<string, string> = new Map([
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

export const PROMPT_HELP = `agt undo [N]                  take back the last turn, or the last N: all since your prompt
agt undo step [N]             take back steps, such as calls of a tool
agt redo [N], agt redo step   the other way
agt snapshots                 list the last steps
agt restore SNAPSHOT          go to any of them: @{2}, a time, a commit, a label or its beginning
agt restore SNAPSHOT -- PATH  the same for single files
agt status, agt list          the sessions
agt accept                    show what would come onto your branch; agt accept yes does it
agt reject                    show what would go; agt reject yes ends the session
`;

const OTHERS = ['undo', 'redo', 'restore', 'help'];
const WORDS = [...new Set([...PROMPTS.keys()].map((words) => words.replace(/ .*/, ''))), ...OTHERS];

export interface PromptCommand {
  /** After `agt`: as a person writes it. */
  readonly words: string;
  /** The command line of agt that it stands for. Undefined for help, and for what is no command. */
  readonly line?: readonly string[];
  /** Instead of a line. The first word may be a session; the others are the name of one snapshot. */
  readonly restore?: { readonly words: readonly string[]; readonly paths: readonly string[] };
  /** No command, although it looks like one; the words that it may have meant. */
  readonly mistakenFor?: readonly string[];
}

/** Also the command of a plugin, `/agt:undo`. One word may end as a sentence does; a label may have a full stop of its own. */
const PROMPT = /^\s*(?:\/agt:|\/?agt\s+)(\S+?)(?:[.!]*|\s+(\S.*?))\s*$/i;

/** Undefined for a prompt that the model answers. */
export function parsePrompt(prompt: string): PromptCommand | undefined {
  const [, first = '', argument] = PROMPT.exec(prompt) ?? [];
  const word = first.toLowerCase();
  if (word === 'restore') return restoreOf(argument);
  const words = argument === undefined ? word : `${word} ${argument.toLowerCase().replace(/[.!]+$/, '')}`;
  if (word === 'help' && (argument === undefined || WORDS.includes(words.slice('help '.length))))
    return { words };
  const line = PROMPTS.get(words)?.split(' ') ?? lineOfMove(words);
  if (line !== undefined) return { words, line };
  // With other words after it, it is a sentence about agt.
  if (argument !== undefined)
    return (WORDS.includes(word) && OPTIONS.test(argument)) || MOVE_TO.test(words)
      ? { words: `${word} ${argument}`, mistakenFor: [] }
      : undefined;
  const meant = similar(word, WORDS);
  return meant.length === 0 ? undefined : { words, mistakenFor: meant };
}

/** `list 2`, `accept fix --keep`; `log shows 3` may be a sentence. */
const OPTIONS = /^(\d+|(\S+\s+)?-\S+)(\s+(\d+|-\S*))*$/;

/** `undo foo`, `undo turn 2`, `accept foo yes`: nobody says that of agt. */
const MOVE_TO = /^(undo|redo) (\S+|turns? \d+)$|^(accept|reject) \S+ yes$/;

/** `undo`, `undo 2`, `undo step 2`, `redo 3 turns`. */
function lineOfMove(words: string): string[] | undefined {
  // `turn 2` may be one turn, or two.
  const move = /^(undo|redo)(?: (step)s?)?(?: (\d+))?(?: (turn|step)s?)?$/.exec(words);
  const [, by = '', before, count, after] = move ?? [];
  if (move === null || (before !== undefined && after !== undefined)) return undefined;
  const turn = (before ?? after) === 'step' ? [] : ['--turns'];
  return ['session', by, ...turn, ...(count === undefined ? [] : [count])];
}

function restoreOf(argument = ''): PromptCommand {
  const [own, paths] = splitAtRest(wordsOf(argument));
  const words = own[0] === '--to' ? own.slice(1) : own;
  return words.length === 0 || paths?.length === 0 || words.some((word) => word.startsWith('-'))
    ? { words: `restore ${argument}`.trim(), mistakenFor: [] }
    : restoreTo(words, paths ?? []);
}

export function restoreTo(words: readonly string[], paths: readonly string[]): PromptCommand {
  const all = [...words, ...(paths.length > 0 ? ['--', ...paths] : [])];
  const quoted = all.map((word) => (/^[^\s"']+$/.test(word) ? word : JSON.stringify(word)));
  return { words: `restore ${quoted.join(' ')}`, restore: { words, paths } };
}

/** Quotes are as in a shell. */
function wordsOf(text: string): string[] {
  const words = text.match(/"(?:[^"\\]|\\.)*"(?!\S)|'[^']*'(?!\S)|\S+/g) ?? [];
  return words.map((word) => {
    if (/^".*"$/.test(word)) return attempt(() => JSON.parse(word) as string) ?? word.slice(1, -1);
    return word.replace(/^'(.*)'$/, '$1');
  });
}
