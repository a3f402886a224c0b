/** Runs the command of agt that a prompt is, in the session of the current directory, and returns what it printed. */
import { formatError } from '../../errors.ts';
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

function commandOf(prompt: PromptCommand) {
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
