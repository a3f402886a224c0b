/** agt session undo and redo: back to an earlier step, forward again, and the undo of one thing. */
import { AgtError, isAgtError, usageError } from '../../../errors.ts';
import { capturedRefs } from '../../../folders/git-state/read-state.ts';
import { shownId } from '../../../folders/store.ts';
import { inDirectory, inOtherRepository, isAncestor, resolveObject } from '../../../git/run/git.ts';
import { shellQuote } from '../../../process/shell-quote.ts';
import { commandToList, commandToMove, commandToRestore } from '../../../session/advised-commands.ts';
import { idProblem } from '../../../session/id.ts';
import { isAttached } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { TOP_FOLDERS } from '../../../snapshot/folders.ts';
import { promptIn } from '../../../snapshot/format.ts';
import type { Snapshot } from '../../../snapshot/history.ts';
import { acceptancesHere } from '../../../timetravel/restore/acceptances.ts';
import { withPresent } from '../../../timetravel/restore/present.ts';
import { type Distance, findRedoTarget, findUndoTarget } from '../../../timetravel/restore/steps.ts';
import type { RestoreRequest } from '../../../timetravel/restore/unfinished-restore.ts';
import { turnLeft } from '../../../timetravel/turn-files.ts';
import { findGreen } from '../../bisecting.ts';
import { type Arguments, defineSessionCommand, option } from '../../command-line/command.ts';
import type { Report } from '../../command-line/report.ts';
import type { Context } from '../../context.ts';
import { sessionHere, sessionIfAny } from '../../session-here.ts';
import { runRestore } from './restore.ts';
import { ONE_THING, undoOneThing } from './undo-one-thing.ts';

const MOVE = {
  more: {
    count: option.value(
      'number of steps, with --turns of turns (default: 1), or with --turn the number of one',
    ),
  },
  options: {
    turns: option.flag(
      'by turns of the agent, from one prompt to the next, in place of steps; without any prompt, by steps',
    ),
    ...option.shared('files-only', 'dry-run', 'quiet', 'json'),
  },
} as const;

export const sessionUndo = defineSessionCommand({
  ...MOVE,
  options: {
    ...MOVE.options,
    ...ONE_THING,
    'to-green': option.value('to the newest step at which this shell command passes'),
  },
  name: 'session undo',
  alsoFolders: true,
  takesRest: 'paths',
  summary: 'go back to the previous snapshot, or take back a restore',
  description:
    'Autocommit, then restore the snapshot before that. Repeat to go further back, or give a number. agt redo goes ' +
    'forward again, as long as nothing else changes the session. As a prompt of an agent, agt undo and agt undo 2 take ' +
    'turns back, as --turns does, and agt undo step 2 takes steps. With --turn and a number, --step or --agent, take that ' +
    'one thing back by a merge: later changes and those of others stay, byte for byte. A conflict changes nothing. ' +
    'Directly after that, --turn without a number takes the newest turn that is left in the same way. With --to-green agt ' +
    'runs a command in copies of earlier steps, as agt bisect run does, and goes back to the newest one at which it passes.',
  examples: [
    ['agt undo', 'go back one snapshot in the session of the current directory'],
    ['agt undo --turn', 'take back everything since the last prompt that changed something'],
    ['agt undo --turn 3 -n', 'show what taking back turn 3 alone would change'],
    ['agt undo --agent codex -- src', 'take back what Codex changed in src, and nothing else'],
    ['agt undo --to-green "npm test"', 'go back to the newest step at which the tests pass'],
    ['agt undo fix-login 3 --dry-run', 'show what three steps back would change'],
  ],
  run: async (args, context, session) => {
    const isOneThing =
      args.step !== undefined || args.agent !== undefined || (args.turn && args.count !== undefined);
    if (isOneThing && args.toGreen !== undefined)
      throw usageError('--to-green goes back by steps, and names no one thing', 'leave out one of the two');
    if (isOneThing) return undoOneThing(context, session, args);
    refuseWithoutThing(session, args);
    // A killed undo goes on, before anything is captured.
    const isKilled = session.record.intent?.operation === 'restore';
    if (args.turn && args.toGreen === undefined && !isKilled) {
      const look = { now: context.now(), dryRun: args.dryRun };
      const left = session.place === 'here' ? await withPresent(session, look, turnLeft) : undefined;
      if (left === 0) throw new AgtError('nothing to undo: every turn is taken back');
      if (left !== undefined) return undoOneThing(context, session, { ...args, count: String(left) });
    }
    const byTurns = args.turns || args.turn;
    const { toGreen: command, count, dryRun } = args;
    if (command === undefined) return move(context, session, { ...args, turns: byTurns }, 'undo');
    if (count !== undefined || byTurns)
      throw usageError('--to-green finds the number of steps', 'leave it out');
    if (command.trim() === '') throw usageError('--to-green is empty', 'give a shell command');
    const green = await findGreen(context, session, command, args);
    if (green !== undefined)
      return runRestore(context, session, green.request, dryRun, { distance: green.distance });
    const text = `${shownId(session.record)}: the command passes, there is nothing to undo\n`;
    return { json: { session_id: session.id, snapshot: null, changed: 0 }, text };
  },
});

/** @throws AgtError for paths and conflicts without the one thing to take back. */
function refuseWithoutThing(session: Session, { path = [], rest, ...args }: Arguments<typeof ONE_THING>) {
  const paths = [...path, ...rest];
  const option = args.keepOurs ? '--keep-ours' : args.writeConflicts ? '--write-conflicts' : undefined;
  if (paths.length === 0 && option === undefined) return;
  const files = paths.length === 0 ? '' : ` -- ${paths.map(shellQuote).join(' ')}`;
  const conflicts = option === undefined ? '' : ` ${option}`;
  // Paths are relative to where the user is.
  const undo = isAttached(session.record) ? 'agt undo' : commandToMove(session.record, 'undo');
  throw usageError(
    `${option ?? 'a path'} needs one thing to take back: add --turn N, --step @{N} or --agent NAME`,
    `for example: ${undo} --turn N${conflicts}${files}`,
    `the turns by their numbers: ${commandToList(session.record)} --turns`,
    ...(option === undefined ? [`or bring the file back: agt restore SNAPSHOT${files}`] : []),
  );
}

export const sessionRedo = defineSessionCommand({
  ...MOVE,
  options: { ...MOVE.options, turn: option.flag('one turn of the agent') },
  name: 'session redo',
  elsewhere: { '--path': 'agt restore SNAPSHOT -- PATH' },
  alsoFolders: true,
  summary: 'go one step forward again after agt undo',
  examples: [
    ['agt redo', 'go forward again in the session of the current directory'],
    ['agt redo --turns 2', 'bring back two turns of the agent'],
  ],
  run: (args, context, session) => {
    if (args.turn && args.count !== undefined)
      throw usageError('a redo names no turn', `to bring back so many turns: agt redo --turns ${args.count}`);
    return move(context, session, { ...args, turns: args.turns || args.turn }, 'redo');
  },
});

type MoveArguments = Arguments<typeof MOVE.options> & {
  readonly count: string | undefined;
  /** The first word that the user has given, and `--session`. */
  readonly id?: string;
  readonly session?: string;
};

async function move(
  context: Context,
  session: Session,
  { id, session: named, count: counted, turns, filesOnly, dryRun }: MoveArguments,
  by: 'undo' | 'redo',
): Promise<Report> {
  const given = counted ?? '1';
  if (/^-\d+$/.test(given))
    throw usageError(
      `"${given}" is no number of steps`,
      `without the sign: agt ${by} ${isAttached(session.record) ? '' : `${session.id} `}${given.slice(1)}`,
    );
  // A word alone that is no number was to be a session, and the reason says which ones there are.
  const isWord = idProblem(given) === undefined && !/^\d+$/.test(given);
  if (isWord && id === given && named === undefined) await sessionHere(context, given);
  if (counted === undefined && /^\d+$/.test(session.id)) await refuseBoth(context, session, by);
  const isDefault = counted === undefined;
  const hasTurns = turns && (await session.history()).some((one) => promptIn(one) !== undefined);
  const distance: Distance = { count: Number(given), unit: hasTurns ? 'turn' : 'step', isDefault };
  if (!(distance.count >= 1)) {
    const byTurns = hasTurns && !context.isPrompt ? ' --turns' : '';
    const hints = [`for example: ${commandToMove(session.record, by)}${byTurns} 2`];
    const restore = commandToRestore(session.record, shellQuote(given));
    if (given.startsWith('@')) hints.push(`back to a snapshot: ${restore}`);
    throw usageError(`"${given}" is no number of ${distance.unit}s`, ...hints);
  }
  if (turns && !hasTurns && !context.isPrompt)
    context.err(`note: "${shownId(session.record)}" has no turns, so agt goes by steps\n`);
  const findTarget = by === 'undo' ? findUndoTarget : findRedoTarget;
  const chosen: Snapshot[] = [];
  const request: RestoreRequest = {
    scope: TOP_FOLDERS,
    by,
    now: context.now(),
    filesOnly,
    choose: async (seen) => {
      const found = await findTarget(seen, distance).catch(async (error: unknown) => {
        const start = by === 'undo' ? (await seen.history()).at(-1) : undefined;
        if (isAgtError(error) && start !== undefined)
          error.hints.push(...(await commandsOnAccepted(session, start)));
        throw error;
      });
      chosen.push(found);
      return found;
    },
  };
  const report = await runRestore(context, session, request, dryRun, { distance });
  const to = chosen.at(-1);
  if (by === 'redo' || to === undefined) return report;
  const notes = (await commandsOnAccepted(session, to)).map((line) => `note: ${line}\n`);
  return { ...report, warnings: [...notes, report.warnings ?? ''].join('') };
}

/** An undo in the checkout goes by its own snapshots, and leaves the commit of an acceptance that came after `to`. */
async function commandsOnAccepted(session: Session, to: Snapshot): Promise<string[]> {
  const { git, record } = session;
  if (record.checkout === undefined) return [];
  const known = acceptancesHere(session);
  const head = known.length > 0 && (await resolveObject(inDirectory(git, record.checkout), 'HEAD'));
  const then = head ? await capturedRefs(git, to.commit) : undefined;
  const accepted = known.find(({ commit }) => commit === head);
  const before = accepted && then?.get(accepted.onto);
  const isEarlier =
    head && before && (await isAncestor(inOtherRepository(git, record.checkout), head, before));
  const id = isEarlier ? undefined : accepted?.id;
  return id === undefined ? [] : [`the acceptance of "${id}" stays; to take it back: agt unaccept ${id}`];
}

/** @throws AgtError in another session: the number is the name of this one, and may be a number of steps. */
async function refuseBoth(context: Context, { id }: Session, by: 'undo' | 'redo'): Promise<void> {
  const here = await sessionIfAny(context);
  if (here === undefined || here.id === id) return;
  throw usageError(
    `"${id}" is a session, and a number of steps`,
    `for the session: agt ${by} ${id} 1, for the steps: agt ${by} ${here.id} ${id}`,
  );
}
