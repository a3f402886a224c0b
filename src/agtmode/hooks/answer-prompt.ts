/** Runs the command of agt that a prompt is, in the session of the current directory, and returns what it printed. */
import { spawn } from 'node:child_process';
import { closeSync, readFileSync } from 'node:fs';
import { AgtError, EXIT, formatError, usageError } from '../../errors.ts';
import { shellQuote } from '../../git/run/trace.ts';
import type { PromptEvent } from '../../integrations/event.ts';
import { sayWhenInterrupted } from '../../process/interrupts.ts';
import { ownCommand } from '../../process/invocation.ts';
import { snapshotRefs } from '../../session/record.ts';
import { resolveSnapshot } from '../../snapshot/resolve-snapshot.ts';
import { parseWithoutYargs } from '../command-line/parse-without-yargs.ts';
import { runCommand } from '../command-line/run-command.ts';
import { sessionLog } from '../commands/session/log.ts';
import { sessionRedo, sessionRestore, sessionUndo } from '../commands/session/restore.ts';
import type { Context } from '../context.ts';
import { sessionHere } from '../session-here.ts';
import {
  continueInBackground,
  type HookCall,
  logEvent,
  namelessFile,
  openTolerantly,
  placeOf,
} from './call.ts';
import { deletedFolder, inFolderMadeAgain, unanswered } from './deleted-folder.ts';
import { PROMPTS, type PromptCommand, restoreTo } from './prompts.ts';

/** How far an answer has come, for an agt that an agent ends. */
interface PromptRun {
  /** A restore names a commit once that is known: with each capture, `@{2}` becomes another snapshot. */
  command: PromptCommand;
  /** The files are as the command wants them. */
  isComplete: boolean;
  /** Why it failed, which the answer says as well. */
  failure?: unknown;
}

/** Undefined for a prompt that the model answers. `isAbove`: the directory of the agent is gone, and this is above it. */
export async function answerPrompt(
  context: Context,
  command: PromptCommand,
  call: HookCall,
  event: PromptEvent,
  isAbove: boolean,
): Promise<string | undefined> {
  const run: PromptRun = { command, isComplete: false };
  const answerIn = async (here: Context, above: boolean) => {
    if ((await placeOf(here, above)) !== undefined) return answer(here, run);
    const reason = await unanswered(here, event.cwd);
    return reason && formatError(reason, false).trimEnd();
  };
  const answerHere = async () => {
    const deleted = isAbove ? await deletedFolder(context, event.cwd) : undefined;
    if (deleted === undefined) return answerIn(context, isAbove);
    return inFolderMadeAgain(deleted, async () => answerIn(await openTolerantly(call, event), false));
  };
  if (call.isInBackground) {
    await answerHere();
    if (run.failure !== undefined) throw run.failure;
    return undefined;
  }
  // An agent ends a hook that takes longer than it allows, and its person must not be left with half of a restore.
  const goOn = () => {
    call.forget();
    logEvent(call, event, interrupted(run, event.cwd), isUnfinished(run));
    if (isUnfinished(run)) continueInBackground(call, { ...event, prompt: `agt ${run.command.words}` });
  };
  return sayWhenInterrupted(goOn, answerHere).catch((error: unknown) => formatError(error, false).trimEnd());
}

async function answer(context: Context, run: PromptRun): Promise<string> {
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
    const exitCode = await runPrompt(own, run);
    if (exitCode !== EXIT.done) run.failure = new AgtError(text.trimEnd());
  } catch (error) {
    run.failure = error;
    text += formatError(error, false);
  }
  return asPrompts(text).trimEnd() || 'nothing to list yet';
}

/** The commands of this bundle. Another agt runs every other one. */
const OWN = [sessionUndo, sessionRedo, sessionRestore, sessionLog];

async function runPrompt(context: Context, run: PromptRun): Promise<number> {
  const { words, to, mistakenFor } = run.command;
  const prompt = PROMPTS.get(words);
  if (to !== undefined) run.command = await fixSnapshot(context, to);
  else if (mistakenFor !== undefined || prompt === undefined) throw usageOf(words, mistakenFor);
  const line = prompt?.split(' ') ?? ['session', 'restore', '--to', run.command.to ?? ''];
  const own = parseWithoutYargs(OWN, line);
  if (own !== undefined) return runCommand(own.command, own.args, context);
  const { exitCode, text } = await runAgt(line, context);
  context.out(text);
  if (exitCode === EXIT.done && PROMPTS.has(`${words} yes`)) context.out(`to do that: agt ${words} yes\n`);
  run.isComplete = true;
  return exitCode;
}

/**
 * Another agt prints into a file without a name and has a process group of its own, so it finishes its work when the agent
 * ends this hook.
 */
function runAgt(line: readonly string[], { env, cwd }: Context): Promise<{ exitCode: number; text: string }> {
  const { reading, writing } = namelessFile();
  const [program = '', ...args] = [...ownCommand(), ...line];
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', writing, writing] });
  return new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
    .then((code) => ({ exitCode: code ?? EXIT.failed, text: readFileSync(reading, 'utf8') }))
    .finally(() => {
      for (const fd of [reading, writing]) closeSync(fd);
    });
}

/** Commands that agt advises, as prompts. */
function asPrompts(text: string): string {
  return text
    .replace(/agt -C .+? (?=(snapshot|undo|redo)\b)/g, 'agt ')
    .replace(/agt (session log \S+|snapshot list)/g, 'agt snapshots')
    .replace(/agt session undo \S+/g, 'agt undo')
    .replace(/one step back: agt undo/g, '$& step')
    .replace(/agt (session restore \S+ --to|snapshot restore) /g, 'agt restore ');
}

async function fixSnapshot(context: Context, to: string): Promise<PromptCommand> {
  const { repository, record } = await sessionHere(context);
  const { commit } = await resolveSnapshot(repository.git, snapshotRefs(record), to, context.now());
  return restoreTo(commit);
}

/** The line of hooks.log about a command that an agent has ended. */
function interrupted({ command, isComplete }: PromptRun, cwd: string): AgtError {
  const words = `agt ${command.words}`;
  if (isComplete) return new AgtError(`the agent ended agt before it could say that "${words}" is complete`);
  const doctor = `agt -C ${shellQuote(cwd)} doctor`;
  return new AgtError(`the agent ended "${words}" before it was finished; agt goes on in the background`, {
    hints: [`see whether it is finished: ${doctor}`, `if it is not: ${doctor} --fix`],
  });
}

/** Whether the files are not yet as the command wants them, and nobody goes on. */
function isUnfinished({ command: { words }, isComplete }: PromptRun): boolean {
  return !isComplete && /^(undo|redo|restore)\b/.test(words);
}

function usageOf(words: string, meant: readonly string[] = []): AgtError {
  return usageError(
    `a prompt cannot be "agt ${words}"`,
    ...(meant.length === 0 ? [] : [`did you mean: ${meant.map((word) => `agt ${word}`).join(', ')}?`]),
    'agt undo and agt redo go by turns, agt undo step and agt redo step by steps',
    'agt snapshots, agt status and agt list take no more words; agt accept and agt reject take yes alone',
    'agt restore takes a snapshot alone: agt restore @{2}',
    'in a terminal, agt help session restore shows more',
  );
}
