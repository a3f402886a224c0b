import { shownId } from '../../folders/store.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { commandToCompare, commandToRestore } from '../../session/advised-commands.ts';
import type { Preview } from '../../timetravel/restore/preview.ts';
import type { RestoreResult } from '../../timetravel/restore/restore.ts';
import type { Distance, Position } from '../../timetravel/restore/undo.ts';
import type { Report } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { age, plural, showPath } from './format.ts';
import { fileStatus } from './vocabulary.ts';

/** Paths that differ after a restore beside a writer: a screenful. */
const MOST_LISTED = 20;

/** An undo or a redo, and where it has come to. */
interface Move {
  readonly by: 'undo' | 'redo';
  readonly distance: Distance;
  readonly position: Position | undefined;
}

export function reportRestore(
  context: Context,
  restored: RestoreResult,
  { by, distance, position }: Partial<Move> = {},
): Report {
  const { record, snapshot, before, commit, changed, mismatches, warnings } = restored;
  const isPrompt = context.isPrompt === true;
  const verified = mismatches.length === 0;
  const undo = before === undefined ? undefined : commandToRestore(record, shortOid(before));
  const back = isPrompt ? promptBack(restored, by) : undo;
  const { turn } = (distance === 'turn' && position) || {};
  const lines = [
    `${shownId(record)}: restored ${plural(changed, 'path')}, ${verified ? 'verified' : 'some differ from the snapshot'}`,
    ...(turn === undefined ? [] : [describeTurn(turn, by)]),
    ...(position === undefined || turn !== undefined ? [] : [describePosition(position, context.now())]),
    ...(back === undefined ? [] : [`to undo: ${back}`]),
  ];
  for (const warning of warnings) context.err(`warning: ${warning}\n`);
  return {
    json: {
      session_id: record.session_id,
      snapshot: snapshot.commit,
      before,
      commit,
      changed,
      verified,
      mismatches,
      undo,
      ...(position && { position: positionJson(position) }),
    },
    text: `${lines.join('\n')}\n`,
    warnings: verified ? '' : describeMismatches(restored, isPrompt, by !== undefined),
    failed: !verified,
  };
}

/** `isMove`: the next undo would go on from here. */
function describeMismatches(
  { record, snapshot, mismatches }: RestoreResult,
  isPrompt: boolean,
  isMove: boolean,
): string {
  const commit = shortOid(snapshot.commit);
  const differing = mismatches.length === 1 ? '1 path differs' : `${mismatches.length} paths differ`;
  const see = isPrompt ? '' : `; see: ${commandToCompare(record, commit)} --name-status`;
  const again = isPrompt ? `agt restore ${commit}` : commandToRestore(record, commit);
  const lines = [
    `error: ${differing} from snapshot ${commit}:`,
    ...mismatches.slice(0, MOST_LISTED).map((path) => `  ${showPath(path)}`),
    ...(mismatches.length > MOST_LISTED ? [`  and ${mismatches.length - MOST_LISTED} more${see}`] : []),
    ...(isMove ? [`hint: to try again: ${again}`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** An undo after a restore that changed nothing would go to the step before. */
function promptBack({ before, changed }: RestoreResult, by: Move['by'] | undefined): string | undefined {
  if (before === undefined || changed === 0) return undefined;
  return by === 'undo' ? 'agt redo' : 'agt undo';
}

/** `now at "npm installed", 3 minutes ago, 2 of 5`. */
function describePosition({ snapshot, step, of }: Position, now: Date): string {
  const name = snapshot.label === undefined ? shortOid(snapshot.commit) : `"${snapshot.label}"`;
  return `now at ${name}, ${age(snapshot.time, now)}, ${step} of ${of}`;
}

function describeTurn(turn: string, by: Move['by'] | undefined): string {
  return by === 'redo' ? `this brings the turn "${turn}" back` : `this takes the turn "${turn}" back`;
}

function positionJson({ snapshot, step, of, turn }: Position) {
  return {
    snapshot: snapshot.commit,
    label: snapshot.label ?? null,
    at: snapshot.time.toISOString(),
    step,
    of,
    turn: turn ?? null,
  };
}

export function reportPreview({ record, snapshot, paths }: Preview): Report {
  const changes = paths.map(({ kind, path }) => ({ path, status: fileStatus(kind) }));
  const lines = paths.map(({ kind, path }) => `${kind} ${showPath(path)}\n`);
  const blocked = paths.filter(({ kind }) => kind === '!').length;
  const others = plural(paths.length - blocked, 'path');
  const not = blocked === 0 ? '' : `, not ${blocked} with something in the way`;
  lines.push(`${shownId(record)}: would restore ${others} to ${shortOid(snapshot.commit)}${not}\n`);
  const found = { session_id: record.session_id, snapshot: snapshot.commit, changes, dry_run: true };
  return { json: found, text: lines.join('') };
}
