/** Runs the command of agt that a prompt is, in the session of the current directory, and returns what it printed. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, readFileSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeDirectories } from '../../disk/make-directories.ts';
import { namelessFile } from '../../disk/nameless-file.ts';
import { realPath } from '../../disk/real-path.ts';
import { AgtError, attempt, EXIT, formatError, usageError } from '../../errors.ts';
import { readSessionFile } from '../../filter/session-file.ts';
import { hasStore } from '../../folders/store.ts';
import type { PromptEvent } from '../../integrations/event.ts';
import { agtDirectory } from '../../layout.ts';
import { ownCommand } from '../../process/invocation.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import type { Text } from '../../process/streams.ts';
import { repositoryAround } from '../../repository/find-repository.ts';
import { sessionContaining } from '../../session/find-session.ts';
import { idProblem } from '../../session/id.ts';
import { isEnded } from '../../session/state.ts';
import { parseWithoutYargs } from '../command-line/parse-without-yargs.ts';
import { runCommand } from '../command-line/run-command.ts';
import { sessionLog } from '../commands/session/log.ts';
import { noteOnPrompt, sessionRestore } from '../commands/session/restore.ts';
import { sessionRedo, sessionUndo } from '../commands/session/undo.ts';
import type { Context } from '../context.ts';
import { sessionAndWords } from '../session-here.ts';
import { goOnWhenEnded, type HookCall, openTolerantly, placeOf } from './call.ts';
import { PROMPT_HELP, PROMPTS, type PromptCommand, restoreTo } from './prompts.ts';

/** How far an answer has come, for an agt that an agent ends. */
interface PromptRun {
  /** A restore names a commit once that is known: with each capture, `@{2}` becomes another snapshot. */
  command: PromptCommand;
  /** The files are as the command wants them. */
  isComplete: boolean;
  /** Why it failed, which the answer says as well. */
  failure?: unknown;
  note?: string;
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
    return reason && shownError(reason);
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
  // A person must not be left with half of a restore.
  const isUnfinished = () => !run.isComplete && /^(undo|redo|restore)\b/.test(run.command.words);
  const stopped = () => ({
    reason: interrupted(run, event.cwd),
    rest: isUnfinished() ? { ...event, prompt: `agt ${run.command.words}` } : undefined,
  });
  return goOnWhenEnded(call, event, stopped, answerHere).catch(shownError);
}

function shownError(error: unknown): string {
  return formatError(error, false).trimEnd();
}

async function answer(context: Context, run: PromptRun): Promise<string> {
  let text = '';
  const print = (part: Text) => {
    text += typeof part === 'string' ? part : Buffer.from(part).toString();
  };
  const completed = () => {
    run.isComplete = true;
  };
  const own = {
    out: print,
    err: print,
    colour: () => false,
    showsProgress: false,
    isPrompt: true,
    completed,
  } as const;
  try {
    const exitCode = await runPrompt({ ...context, ...own }, run);
    if (exitCode !== EXIT.done) run.failure = new AgtError(text.trimEnd());
  } catch (error) {
    run.failure = error;
    text += formatError(error, false);
  }
  return asAnswer(text) || 'nothing to list yet';
}

/** The commands of this bundle. Another agt runs every other one. */
const OWN = [sessionUndo, sessionRedo, sessionRestore, sessionLog];

async function runPrompt(context: Context, run: PromptRun): Promise<number> {
  const { words, restore, mistakenFor } = run.command;
  if (words.startsWith('help')) {
    context.out(PROMPT_HELP);
    return EXIT.done;
  }
  const [, act] = /^(accept|reject)\b/.exec(words) ?? [];
  const repository = act && (await context.repositoryIfAny());
  if (act && !(repository && sessionContaining(repository, context.cwd))) {
    const why = repository ? 'this is your own checkout' : 'this folder is in no git repository';
    const hint = `in a terminal: agt ${act} SESSION`;
    const hints = [...(repository ? [hint] : []), 'agt undo, agt redo and agt restore go back here, too'];
    throw new AgtError(`there is no session here: ${why}`, { hints });
  }
  const line = restore === undefined ? run.command.line : await lineOfRestore(context, run, restore);
  if (line === undefined) throw usageOf(words, mistakenFor);
  const own = parseWithoutYargs(OWN, line);
  if (own !== undefined) {
    const exitCode = await runCommand(own.command, own.args, context);
    context.out(run.note ?? '');
    return exitCode;
  }
  const { exitCode, text } = await runAgt(line, context);
  context.out(text);
  if (exitCode === EXIT.done && PROMPTS.has(`${words} yes`)) context.out(`to do that: agt ${words} yes\n`);
  run.isComplete = true;
  return exitCode;
}

async function lineOfRestore(
  context: Context,
  run: PromptRun,
  { words, paths }: NonNullable<PromptCommand['restore']>,
): Promise<string[]> {
  const chosen = await sessionAndWords(context, words, undefined, words.length);
  const spec = chosen.words.join(' ');
  if (spec === '') throw usageOf(run.command.words);
  const snapshot = await chosen.session.find(spec, context.now());
  const { commit } = snapshot;
  run.note = noteOnPrompt(chosen.session, snapshot, spec);
  const own = [...words.slice(0, words.length - chosen.words.length), commit];
  run.command = restoreTo(own, paths);
  return ['session', 'restore', ...own, ...(paths.length > 0 ? ['--', ...paths] : [])];
}

/** Another agt has a nameless file and a process group of its own: it outlives a hook that is ended. */
export function runAgt(line: readonly string[], { env, cwd }: Context) {
  const { reading, writing } = namelessFile();
  const [program = '', ...args] = [...ownCommand(), ...line];
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', writing, writing] });
  return new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
    .then((code) => ({ exitCode: code ?? EXIT.failed, text: readFileSync(reading, 'utf8') }))
    .finally(() => {
      for (const fd of [reading, writing]) closeSync(fd);
    });
}

/** A list of snapshots quotes people, so its lines stay as they are. */
const asAnswer = (text: string) => text.replace(/^(?!@\{)[^\n]*(\n(?!@\{)[^\n]*)*/gm, asPrompts).trimEnd();

/** Commands that agt advises, as prompts. */
function asPrompts(text: string): string {
  return text
    .replace(/agt -C .+? (?=(snapshot|undo|redo)\b)/g, 'agt ')
    .replace(/agt (session log \S+|snapshot list)( --turns)?/g, 'agt snapshots')
    .replace(/(: agt (?:undo|redo)) (?!(?:step|turn)\b|\d+\b)\w[^\s,;]*(?!\S)/g, '$1')
    .replace(/one step back: agt undo/g, '$& step')
    .replace(/agt snapshot restore /g, 'agt restore ')
    .replace(/: agt restore \S+ (\w\S*|@\S+)$/gm, ': agt restore $1')
    .replace(/^hint: .* --dry-run\n/gm, '')
    .replace(/^hint: (?!in a terminal)(?=.*\bagt accept )/gm, 'hint: in a terminal: ')
    .replace(/^\nGit .*\nSettings:(?: all default.*\n|\n(?: {2}.*\n)*)/m, '');
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

function usageOf(words: string, meant: readonly string[] = []): AgtError {
  return usageError(
    `a prompt cannot be "agt ${words}"`,
    ...(meant.length === 0 ? [] : [`did you mean: ${meant.map((word) => `agt ${word}`).join(', ')}?`]),
    /^(un|re)do\b/.test(words)
      ? 'for example agt undo 2, agt undo step 2; to go to a label: agt restore LABEL'
      : 'for example agt undo 2, agt undo step, agt restore @{2}; all of them: agt help',
  );
}

/** The folder at `cwd`, which is gone, or the nearest one above it that is gone as well. */
async function deletedFolder(context: Context, cwd: string): Promise<string | undefined> {
  const gone = gonePlaces(cwd);
  const session = gone.find(isSessionFolder);
  if (session !== undefined) return session;
  if ((await context.repositoryIfAny())?.worktree !== undefined) return undefined; // its snapshots count there
  const access = context.folderAccess();
  return gone.find((place) => hasStore(access, place));
}

function isSessionFolder(place: string): boolean {
  const commonDir = repositoryAround(place);
  const id = basename(place);
  if (commonDir === undefined || idProblem(id) !== undefined) return false;
  return readSessionFile(agtDirectory(commonDir), id)?.sandbox === join(place, 'sandbox');
}

/** Why agt has no answer to a command where an agent works; undefined if the prompt may be meant for the model. */
async function unanswered(context: Context, cwd: string): Promise<AgtError | undefined> {
  const user = await context.repositoryIfAny();
  const { hooks } = user?.settings ?? context.folderAccess().readSettings(undefined);
  if (!hooks) return undefined;
  const session = user && sessionContaining(user, context.cwd);
  if (user !== undefined && session !== undefined && isEnded(session)) {
    const { session_id: id, state } = session;
    const back = `to bring it back, in a terminal: agt -C ${shellQuote(user.git.cwd)} undo ${id}`;
    return new AgtError(`session "${id}" is ${state}`, { hints: [back] });
  }
  if (existsSync(cwd)) return undefined;
  return new AgtError(`the folder ${cwd} is gone, and agt has no snapshots of it`, {
    hints: ['the folders that have some: agt du --folders'],
  });
}

/** The innermost first. No part above them is a link. */
function gonePlaces(path: string): string[] {
  if (existsSync(path)) return [];
  const above = gonePlaces(dirname(path));
  return [join(above[0] ?? realPath(dirname(path)), basename(path)), ...above];
}

/** Runs `action` in the folder. If that brings no file back, the folder goes again. */
async function inFolderMadeAgain<T>(folder: string, action: () => Promise<T>): Promise<T> {
  const made = gonePlaces(folder);
  makeDirectories(folder);
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await action();
  } finally {
    process.chdir(before);
    removeEmpty(made);
  }
}

function removeEmpty(directories: readonly string[]): void {
  attempt(() => {
    for (const directory of directories) rmdirSync(directory);
  }); // it has files
}
