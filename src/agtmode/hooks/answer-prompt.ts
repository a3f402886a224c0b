/** Runs the command of agt that a prompt is, in the session of the current directory, and returns what it printed. */
import { AgtError, EXIT, formatError, usageError } from '../../errors.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { LONGEST_WAIT_MS } from '../../integrations/place.ts';
import { PROMPT_WORDS, type PromptCommand, unknownPromptWord } from '../../integrations/prompt-command.ts';
import { snapshotRefs } from '../../session/record.ts';
import { retryWhileBusy } from '../../session/retry.ts';
import { resolveSnapshot } from '../../snapshot/resolve-snapshot.ts';
import { runCommand } from '../command-line/command.ts';
import { similar } from '../command-line/similar.ts';
import { sessionLog } from '../commands/session/log.ts';
import { sessionRestore } from '../commands/session/restore.ts';
import { sessionRedo, sessionUndo } from '../commands/session/undo.ts';
import type { Context } from '../context.ts';
import { sessionHere } from '../session-here.ts';

/** So many snapshots fit on a screen. */
const LISTED = '15';

/** How far an answer has come, for an agt that an agent ends. */
export interface PromptRun {
  /** A restore names a commit once that is known: with each capture, `@{2}` becomes another snapshot. */
  command: PromptCommand;
  /** The files are as the command wants them. */
  isComplete: boolean;
  /** Why it failed, which the answer says as well. */
  failure?: unknown;
}

export async function answerPrompt(context: Context, run: PromptRun): Promise<string> {
  let text = '';
  const print = (part: string) => {
    text += part;
  };
  const completed = () => {
    run.isComplete = true;
  };
  const streams = { out: print, err: print, colour: false, showsProgress: false } as const;
  const own: Context = { ...context, ...streams, isPrompt: true, completed };
  try {
    if (run.command.command === 'mistaken') throw usageOf(run.command);
    if (run.command.command === 'restore') run.command = await fixSnapshot(own, run.command.to);
    const [command, args] = commandOf(run.command);
    // The hook of the same agent's start may still be capturing.
    const exitCode = await retryWhileBusy(LONGEST_WAIT_MS, () => runCommand(command, args, own));
    if (exitCode !== EXIT.done) run.failure = new AgtError(text.trimEnd());
  } catch (error) {
    run.failure = error;
    text += asPrompts(formatError(error, false));
  }
  return text.trimEnd() || 'no snapshots yet';
}

/** Commands that an error advises, as prompts. */
function asPrompts(text: string): string {
  return text
    .replace(/agt -C .+? (?=(snapshot|undo|redo)\b)/g, 'agt ')
    .replace(/agt (session log \S+|snapshot list)/g, 'agt snapshots')
    .replace(/agt session undo \S+/g, 'agt undo')
    .replace(/agt (session restore \S+ --to|snapshot restore) /g, 'agt restore ');
}

/** A prompt of one word that is nearly one of agt's. Every other one goes to the model. */
export function nearMiss(prompt: string): PromptCommand | undefined {
  const word = unknownPromptWord(prompt);
  const meant = word === undefined || word === 'status' ? [] : similar(word, PROMPT_WORDS);
  return word === undefined || meant.length === 0 ? undefined : { command: 'mistaken', words: word, meant };
}

async function fixSnapshot(context: Context, to: string) {
  const { repository, record } = await sessionHere(context);
  const { commit } = await resolveSnapshot(repository.git, snapshotRefs(record), to, context.now());
  return { command: 'restore', to: commit } as const;
}

/** The line of hooks.log about a command that an agent has ended. */
export function interruptedPrompt({ command, isComplete }: PromptRun, cwd: string): AgtError {
  const words = `agt ${command.command}`;
  if (isComplete) return new AgtError(`the agent ended agt before it could say that "${words}" is complete`);
  const doctor = `agt -C ${shellQuote(cwd)} doctor`;
  return new AgtError(`the agent ended "${words}" before it was finished; agt goes on in the background`, {
    hints: [`see whether it is finished: ${doctor}`, `if it is not: ${doctor} --fix`],
  });
}

/** Whether the files are not yet as the command wants them. */
export function isUnfinished({ command: { command }, isComplete }: PromptRun): boolean {
  return !isComplete && ['undo', 'redo', 'restore'].includes(command);
}

/** The prompt that does the rest. */
export function promptOf({ command }: PromptRun): string {
  return command.command === 'restore' ? `agt restore ${command.to}` : `agt ${command.command}`;
}

function usageOf({ words, meant = [] }: Extract<PromptCommand, { command: 'mistaken' }>): AgtError {
  return usageError(
    `a prompt cannot be "agt ${words}"`,
    ...(meant.length === 0 ? [] : [`did you mean: ${meant.map((word) => `agt ${word}`).join(', ')}?`]),
    'agt undo, agt redo and agt snapshots take no more words',
    'agt restore takes a snapshot alone: agt restore @{2}',
    'in a terminal, agt help session restore shows more',
  );
}

function commandOf(prompt: Exclude<PromptCommand, { command: 'mistaken' }>) {
  const common = { 'dry-run': false, quiet: false, json: false };
  switch (prompt.command) {
    case 'undo':
      return [sessionUndo, common] as const;
    case 'redo':
      return [sessionRedo, common] as const;
    case 'snapshots':
      return [sessionLog, { number: LISTED, stat: false, json: false }] as const;
    case 'restore':
      return [sessionRestore, { ...common, to: prompt.to }] as const;
  }
}
