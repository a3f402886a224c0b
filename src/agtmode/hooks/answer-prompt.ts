/** Runs the command of agt that a prompt is, in the session of the current directory, and returns what it printed. */
import { type AgtError, formatError, usageError } from '../../errors.ts';
import { LONGEST_WAIT_MS } from '../../integrations/place.ts';
import type { PromptCommand } from '../../integrations/prompt-command.ts';
import { retryWhileBusy } from '../../session/retry.ts';
import { runCommand } from '../command-line/command.ts';
import { sessionLog } from '../commands/session/log.ts';
import { sessionRestore } from '../commands/session/restore.ts';
import { sessionRedo, sessionUndo } from '../commands/session/undo.ts';
import type { Context } from '../context.ts';

/** So many snapshots fit on a screen. */
const LISTED = '15';

export async function answerPrompt(context: Context, command: PromptCommand): Promise<string> {
  if (command.command === 'mistaken') return formatError(usageOf(command.words), false).trimEnd();
  let text = '';
  const print = (part: string) => {
    text += part;
  };
  const own: Context = { ...context, out: print, err: print, colour: false, showsProgress: false };
  try {
    const [run, args] = commandOf(command);
    // The hook of the same agent's start may still be capturing.
    await retryWhileBusy(LONGEST_WAIT_MS, () => runCommand(run, args, own));
  } catch (error) {
    text += formatError(error, false);
  }
  return text.trimEnd() || 'no snapshots yet';
}

function usageOf(words: string): AgtError {
  return usageError(
    `a prompt cannot be "agt ${words}"`,
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
