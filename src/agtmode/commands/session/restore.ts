/** agt session restore: back to a snapshot; and what a restore, an undo or a redo reports. */
import { AgtError, FEW, listSome, usageError } from '../../../errors.ts';
import { describeMove } from '../../../folders/git-state/ref-plan.ts';
import { shownId } from '../../../folders/store.ts';
import { gitDirOf } from '../../../git/files/discover-repository.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import {
  advisedIn,
  commandToCompare,
  commandToList,
  commandToMove,
  commandToRestore,
} from '../../../session/advised-commands.ts';
import { isAttached, type SessionRecord } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { isEnded } from '../../../session/state.ts';
import { TOP_FOLDERS } from '../../../snapshot/folders.ts';
import { promptIn } from '../../../snapshot/format.ts';
import { readOperation } from '../../../snapshot/git-dir-files.ts';
import type { Snapshot } from '../../../snapshot/history.ts';
import { committedSince } from '../../../timetravel/restore/committed-files.ts';
import { differsInIndex } from '../../../timetravel/restore/differences.ts';
import { othersChanges } from '../../../timetravel/restore/others-changes.ts';
import { readPosition } from '../../../timetravel/restore/position.ts';
import { isAsIn, previewRestore } from '../../../timetravel/restore/preview.ts';
import { type RestoreResult, restoreSession } from '../../../timetravel/restore/restore.ts';
import type { Distance } from '../../../timetravel/restore/steps.ts';
import { isOfFiles, type RestoreRequest } from '../../../timetravel/restore/unfinished-restore.ts';
import { isPart } from '../../../timetravel/restore/verify.ts';
import { pathInSession, readAmbiguousFolders, requireKnownPaths } from '../../../timetravel/session-paths.ts';
import { defineSessionCommand, option, SNAPSHOT_FORMS } from '../../command-line/command.ts';
import type { Report } from '../../command-line/report.ts';
import type { Context } from '../../context.ts';
import { lines, showPath } from '../../output/format.ts';
import { interruptible } from '../../output/interrupted.ts';
import {
  AS_COMMITTED,
  changesJson,
  changeText,
  countRestored,
  describeMismatches,
  describePosition,
  MOST_LISTED,
  NOTHING_RESTORED,
  noteOf,
  notesOnLeftOut,
  nothingToRestore,
  positionJson,
  refsJson,
  reportPreview,
  warningOfOthers,
} from '../../output/restored.ts';

export const sessionRestore = defineSessionCommand({
  name: 'session restore',
  alsoFolders: true,
  takesRest: 'paths',
  summary: 'restore a session to a snapshot',
  description:
    'Restore files, permissions, empty directories, index, HEAD and work branch of a session to a snapshot. Autocommit ' +
    'first, so that agt undo can take the restore back. Write only files that differ, then check the result against the ' +
    'snapshot. Files that agt never captured stay as they are. With paths after --, restore only these files and ' +
    'directories; they are relative to the sandbox, or to the current directory if that is in the session. A removed ' +
    "session, or one without its folder, can only be restored whole. git's own command is agt git restore.",
  more: { snapshot: option.value(`the snapshot: ${SNAPSHOT_FORMS}`) },
  options: {
    to: option.value('the snapshot, in place of the argument'),
    path: option.many('restore only this file or directory, as after --'),
    only: { type: 'string', choices: [...TOP_FOLDERS], describe: 'restore only this folder of the session' },
    'unchanged-since': option.value('refuse if anything has changed since this snapshot'),
    ...option.shared('files-only', 'dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt restore "10 minutes ago"', 'restore the session of the current directory'],
    ['agt restore fix-login @{3} -- src/login.ts', 'restore one file'],
    ['agt restore fix-login "tests pass" --dry-run', 'show what would change'],
  ],
  check: ({ path = [], rest, only }) => {
    // It would be the current directory, and a script with an unset variable would restore everything.
    if ([...path, ...rest].includes(''))
      throw usageError('a path is empty', 'give a path, or leave it out to restore everything');
    if (path.length + rest.length > 0 && only !== undefined)
      throw usageError('paths and --only exclude each other', 'a path may begin with xdg/ or config/');
  },
  run: async (args, context, session) => {
    const { repository, record } = session;
    const now = context.now();
    const spec = givenSnapshot(session, args);
    const snapshot = await session.find(spec, now);
    const namesakes = await readAmbiguousFolders(repository.git, [snapshot.commit]);
    const given = [...(args.path ?? []), ...args.rest];
    const paths = given.map((path) => pathInSession(record, path, context.cwd, namesakes));
    await requireKnownPaths(repository.git, record, snapshot, paths);
    const from = snapshot.label ?? shortOid(snapshot.commit);
    const folders = args.only === undefined ? TOP_FOLDERS : [args.only];
    const request: RestoreRequest = {
      scope: paths.length > 0 ? paths : folders,
      by: 'restore',
      now,
      ...(given.length > 0 && { label: `restore of ${listSome(given, MOST_NAMED)} from ${from}` }),
      filesOnly: args.filesOnly,
      choose: async (seen) => {
        const since = args.unchangedSince;
        if (since !== undefined) await requireUnchanged(seen, since, now);
        return snapshot;
      },
    };
    const report = await runRestore(context, session, request, args.dryRun);
    return { ...report, notes: `${report.notes ?? ''}${noteOnPrompt(session, snapshot, spec)}` };
  },
});

/** For a person who names a snapshot by a prompt, as `spec`. */
export function noteOnPrompt({ record }: Session, snapshot: Snapshot, spec: string): string {
  if (!promptIn(snapshot)?.startsWith(spec)) return '';
  return `note: this snapshot is from before the work on that prompt; for later ones see: ${commandToList(record)}\n`;
}

/** @throws AgtError unless the folder is as in a snapshot, apart from names and labels */
async function requireUnchanged(session: Session, spec: string, now: Date) {
  const { record } = session;
  const since = await session.find(spec, now);
  if (await isAsIn(session, since)) return;
  throw new AgtError(`"${shownId(record)}" has changed since snapshot ${shortOid(since.commit)}`, {
    hints: [`nothing was restored; see: ${commandToCompare(record, shortOid(since.commit))}`],
  });
}

/** Paths in a label. */
const MOST_NAMED = 3;

/** @throws AgtError if there is none, or more than one */
function givenSnapshot(
  { record }: Session,
  { snapshot, to = snapshot }: { readonly snapshot: string | undefined; readonly to: string | undefined },
): string {
  if (to === undefined)
    throw usageError(
      'no snapshot given',
      `for example: ${commandToRestore(record, '@{1}')}`,
      `see: ${commandToList(record)}`,
    );
  if (snapshot !== undefined && snapshot !== to)
    throw usageError(`two snapshots are given: "${snapshot}" and "${to}"`, 'give one');
  return to;
}

interface Asked {
  readonly distance?: Distance;
  /** The one thing that is undone. */
  readonly thing?: string;
}

export async function runRestore(
  context: Context,
  session: Session,
  request: RestoreRequest,
  dryRun: boolean,
  asked: Asked = {},
): Promise<Report> {
  const { distance } = asked;
  if (dryRun)
    return reportPreview(session, await previewRestore(session, request, distance), request, distance);
  const isGone = session.place !== 'here' && !isAttached(session.record);
  const restored = await interruptible(context, session, restoreSession, request);
  const { before: from, snapshot, content } = restored;
  if (request.by === 'undo' && from !== undefined)
    context.err(warningOfOthers(session, await othersChanges(session, { from }, snapshot.commit, content)));
  const report = await reportRestore(context, session, restored, request, { ...asked, isGone });
  const leftOut = request.scope.includes('sandbox') ? await notesOnLeftOut(session, restored) : '';
  const committed = noteOf(AS_COMMITTED, await committedSince(session, snapshot, content));
  return { ...report, notes: committed + leftOut };
}

/** `before`: a session that had ended, or whose folder was gone. */
function describeReturn(
  { id, record: before }: Session,
  { record, changed }: RestoreResult,
  by: RestoreRequest['by'],
  isGone: boolean,
): string | undefined {
  const { state } = before;
  const hasEnded = isEnded(before);
  if (!hasEnded && !isGone) return undefined;
  if (!hasEnded && by === 'undo' && changed.length === 0)
    return `only its .git file was missing, and is back; one step back: ${commandToMove(before, 'undo')}`;
  const isBack = `${shownId(before)} is back in ${showPath(record.checkout ?? record.sandbox)}`;
  if (!hasEnded) return isBack;
  const back = state === 'accepted' ? 'end it again' : 'take this back';
  return `${isBack}\nto ${back}: agt ${state === 'rejected' ? 'reject' : 'session remove'} ${id}`;
}

/** `isGone`: the folder was not there. */
async function reportRestore(
  context: Context,
  session: Session,
  restored: RestoreResult,
  request: RestoreRequest,
  { distance, thing, isGone }: Asked & { readonly isGone: boolean },
): Promise<Report> {
  const { by } = request;
  const { record, snapshot, before, commit, changed, moves, later, mismatches, warnings } = restored;
  /** Where an undo or a redo has come to. */
  const position =
    by === 'restore' || distance === undefined
      ? undefined
      : await readPosition(session.with(record), by, distance, snapshot);
  const isBack = describeReturn(session, restored, by, isGone);
  const isNone = changed.length + moves.length === 0;
  const isIndexAlone = before !== undefined && isNone && (await differsInIndex(session.git, before, commit));
  const isPrompt = context.isPrompt === true;
  const verified = mismatches.length === 0;
  const advised = (text: string) => advisedIn(context.cwd, text);
  const undo = before && advised(commandToRestore(record, shortOid(before)));
  // The half of a killed restore is no step: no redo leads to it.
  const isAtLast = by === 'undo' && position !== undefined && position.step === position.of;
  const isByName = isAtLast || position?.isFromWithin === true;
  // An undo after a restore that changed nothing would go to the step before.
  const isNothing = isNone && (commit === before || isPrompt || isBack !== undefined);
  for (const warning of warnings) context.err(`warning: ${warning}\n`);
  const parts = mismatches.filter(isPart);
  const isOfParts = parts.length > 0 && parts.length === mismatches.length;
  const differing = isOfParts ? `but not ${parts.join(', ')}` : 'some differ from the snapshot';
  const all = countRestored(changed.length, moves.length, isIndexAlone, warnings);
  const isEmpty = all === NOTHING_RESTORED && warnings.length > 0;
  const done = `restored ${all}, ${verified ? 'verified' : differing}`;
  const gitDir = gitDirOf(record.checkout ?? record.sandbox);
  const operation = (gitDir && readOperation(gitDir)) ?? undefined;
  const isUndo = by !== 'restore' || thing !== undefined;
  const named = isPrompt || isOfFiles(request) || isBack === undefined ? changed : [];
  const most = isUndo && !isPrompt ? FEW : MOST_LISTED;
  const files = named.map((one) => `  ${changeText(one)}`);
  const text = [
    `${shownId(record)}: ${commit === before ? nothingToRestore(snapshot.commit) : done}`,
    ...files.slice(0, most),
    files.length > most && `  and ${files.length - most} more`,
    ...moves.slice(0, MOST_LISTED).map((move) => `  ${describeMove(move)}`),
    moves.length > MOST_LISTED && `  and ${moves.length - MOST_LISTED} more refs`,
    later && `  ${later}`,
    operation && !isOfFiles(request) && `a ${operation} is in progress there`,
    thing !== undefined && `undone: ${thing}, and nothing else`,
    position && describePosition({ ...position, isEmpty }, by, distance, context.now()),
    isBack,
    undo !== undefined &&
      !isNothing &&
      `to take this back: ${isByName ? undo : advised(wayBack(record, by, isPrompt, distance))}`,
  ];
  return {
    json: {
      session_id: record.session_id,
      snapshot: snapshot.commit,
      before,
      commit,
      changed: changed.length,
      changes: changesJson(changed),
      refs: refsJson(moves),
      verified,
      mismatches,
      undo,
      ...(position && { position: positionJson(position) }),
    },
    text: lines(text),
    warnings: verified ? '' : describeMismatches(restored, isPrompt, by !== 'restore'),
    failed: !verified,
  };
}

/** Prompts go by turns, commands by steps. */
function wayBack(
  record: SessionRecord,
  by: RestoreRequest['by'],
  isPrompt: boolean,
  { unit, count }: Pick<Distance, 'unit' | 'count'> = { unit: isPrompt ? 'turn' : 'step', count: 1 },
): string {
  const way = by === 'undo' ? 'redo' : 'undo';
  const turns = unit === 'turn' && (count === 1 ? '--turn' : '--turns');
  const other = isPrompt ? unit === 'step' && 'step' : turns;
  const words = [isPrompt ? `agt ${way}` : commandToMove(record, way), other, count > 1 && count];
  return words.filter((word) => word !== false).join(' ');
}
