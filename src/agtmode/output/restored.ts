/** A restore: its preview, warnings and errors. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { displayPath } from '../../disk/path-bytes.ts';
import { FEW, listSome, plural } from '../../errors.ts';
import { describeMove } from '../../folders/git-state/ref-plan.ts';
import { shownId, shownPath } from '../../folders/store.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { commandToCompare, commandToMove, commandToRestore } from '../../session/advised-commands.ts';
import { sessionFolder } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { isBroughtIn, labelByPerson, THE_START } from '../../snapshot/format.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { leftOutPaths, readSnapshotMetadata } from '../../snapshot/manifest.ts';
import type { OthersChanges } from '../../timetravel/restore/others-changes.ts';
import type { Position } from '../../timetravel/restore/position.ts';
import type { Preview } from '../../timetravel/restore/preview.ts';
import type { RestoreResult } from '../../timetravel/restore/restore.ts';
import type { Distance } from '../../timetravel/restore/steps.ts';
import { isOfFiles, type RestoreRequest } from '../../timetravel/restore/unfinished-restore.ts';
import { isPart } from '../../timetravel/restore/verify.ts';
import type { Report } from '../command-line/report.ts';
import { age, FILE_STATUS, lines, restoreNote, showPath, toolNote } from './format.ts';

/** An undo goes by time. It says what it takes back that no agent has done. */
export function warningOfOthers({ record }: Session, others: OthersChanges): string {
  const all = [...others.paths].map(([path, { commit, isDeletion }]) => ({
    how: isDeletion ? 'deleted ' : '',
    onDisk: path.startsWith('sandbox/')
      ? join(record.checkout ?? record.sandbox, displayPath(path.slice('sandbox/'.length)))
      : join(sessionFolder(record), displayPath(path)),
    path: shownPath(record, displayPath(path)).replace(/^sandbox\//, ''),
    commit: commit && shortOid(commit),
  }));
  const [first] = all;
  if (first === undefined) return '';
  const named = all.map(
    ({ path, commit, how }) =>
      `${showPath(path)} (${how}${commit ? `in ${commit}` : 'since the last snapshot'})`,
  );
  // A restore deletes no file that git ignores. An undo takes a snapshot before, and one after.
  const command = first.how
    ? `rm -r ${shellQuote(first.onDisk)}`
    : `${commandToRestore(record, first.commit ?? "'@{1}'")} -- ${shellQuote(first.path)}`;
  return (
    `warning: that takes back your own changes,${others.isAll ? '' : ' too,'} or those of another program: ${listSome(named, FEW)}\n` +
    `hint: to ${first.how ? 'delete' : 'bring'} one ${first.how ? 'again' : 'back'}${first.commit ? '' : ' then'}: ${showPath(command)}\n`
  );
}

/** Paths of one list: a screenful. */
export const MOST_LISTED = 20;

/** `isMove`: the next undo would go on from here. */
export function describeMismatches(restored: RestoreResult, isPrompt: boolean, isMove: boolean): string {
  const { record, snapshot, mismatches } = restored;
  const commit = shortOid(snapshot.commit);
  const paths = mismatches.length === 1 ? '1 path differs from' : `${mismatches.length} paths differ from`;
  const differing = mismatches.some(isPart) ? 'not as in' : paths;
  const see = isPrompt ? '' : `; see: ${commandToCompare(record, commit)} --name-status`;
  // No command but undo goes to the start.
  const toStart = isPrompt ? 'agt undo step' : commandToMove(record, 'undo');
  const toSnapshot = isPrompt ? `agt restore ${commit}` : commandToRestore(record, commit);
  const again = snapshot.label === THE_START ? toStart : toSnapshot;
  return lines([
    `error: ${differing} snapshot ${commit}:`,
    ...mismatches.slice(0, MOST_LISTED).map((path) => `  ${showPath(path)}`),
    mismatches.length > MOST_LISTED && `  and ${mismatches.length - MOST_LISTED} more${see}`,
    isMove && !mismatches.every(isPart) && `hint: to try again: ${again}`,
  ]);
}

export function nothingToRestore(snapshot: string): string {
  return `nothing to restore: as in ${shortOid(snapshot)} already`;
}

export const NOTHING_RESTORED = plural(0, 'path');
const OF_REPOSITORY = /^(the|a) repository .*(back|takes the place of another one): /;

/** `notes`: the warnings, of which some tell that `.git` is back. */
export function countRestored(paths: number, refs: number, isIndexAlone: boolean, notes: readonly string[]) {
  if (isIndexAlone) return 'the index';
  if (paths === 0 && notes.some((note) => OF_REPOSITORY.test(note))) return 'the repository';
  return paths === 0 && refs > 0 ? plural(refs, 'ref') : plural(paths, 'path');
}

export function reportPreview(
  session: Session,
  preview: Preview,
  request: RestoreRequest,
  distance: Distance | undefined,
): Report {
  const { record, snapshot, paths, isBack, later, moves, staying, others: theirs } = preview;
  const isNothing = preview.isThere || (isOfFiles(request) && paths.length === 0);
  const blocked = paths.filter(({ kind }) => kind === '!').length;
  const others = countRestored(paths.length - blocked, moves.length, preview.isIndexAlone, staying);
  const not = blocked === 0 ? '' : `, not ${blocked} with something in the way`;
  const to = shortOid(snapshot.commit);
  const isEmpty = others === NOTHING_RESTORED && staying.length > 0;
  const more = later === undefined ? '' : `, and ${later}`;
  const moved =
    preview.position && describePosition({ ...preview.position, isEmpty }, request.by, distance, undefined);
  const would = isBack
    ? `would bring its folder back, with ${others}, as in ${to}${not}${more}`
    : `would restore ${others} to ${to}${not}${more}`;
  return {
    json: {
      session_id: record.session_id,
      snapshot: snapshot.commit,
      changes: changesJson(paths),
      refs: refsJson(moves),
      dry_run: true,
    },
    text: lines([
      ...(isBack ? [] : paths.map(changeText)),
      ...moves.map((move) => describeMove(move, true)),
      `${shownId(record)}: ${isNothing ? nothingToRestore(snapshot.commit) : would}`,
      moved !== '' && moved,
    ]),
    notes: noteOf(AS_COMMITTED, preview.committed),
    warnings: warningOfOthers(session, theirs) + lines(staying.map((line) => `warning: ${line}`)),
  };
}

export function changeText({ kind, path, bits }: RestoreResult['changed'][number]): string {
  return bits === undefined
    ? `${kind} ${showPath(path)}`
    : `permissions of ${showPath(path)}: ${bits.toString(8)}`;
}

export function changesJson(changed: RestoreResult['changed']) {
  return changed.map(({ kind, path }) => ({ path, status: FILE_STATUS[kind] }));
}

export function refsJson(moves: RestoreResult['moves']) {
  return moves.map(({ ref, from = null, to = null }) => ({ ref, from, to }));
}

/** Files that the snapshot leaves out, if they are missing, or came back without their last change. */
export async function notesOnLeftOut({ git, folder }: Session, { record, snapshot, changed }: RestoreResult) {
  const { manifest } = await readSnapshotMetadata(git, snapshot.commit);
  const unblocked = changed.filter(({ kind }) => kind !== '!');
  const written = new Set(unblocked.flatMap(({ path }) => [path, `sandbox/${path}`]));
  const older = manifest.skipped.map(({ path }) => path).filter((path) => written.has(path));
  const gone = leftOutPaths(manifest).filter((path) => !existsSync(join(folder, path)));
  const names = (some: readonly string[]) => some.map((path) => shownPath(record, path));
  return (
    noteOf('back as an earlier snapshot has it, because that one leaves it out', names(older)) +
    noteOf('not back, because snapshots leave it out', names(gone))
  );
}

/** Why paths are not as in the snapshot, although the restore is verified. */
export function noteOf(reason: string, paths: readonly string[]): string {
  return paths.length === 0 ? '' : `note: ${reason}: ${listSome(paths.map(showPath), FEW)}\n`;
}

export const AS_COMMITTED =
  'left as your branch has it, because commits since, or a switch of branches, changed it';

/** `now at "npm installed", 3 minutes ago, 2 of 5`, or the turns that are gone or back. Without `now`, those that would be. */
export function describePosition(
  { snapshot, step, of, turns, restores, steps, isOfOthers, isEmpty, others, cut }: Position,
  by: RestoreRequest['by'],
  distance: Distance | undefined,
  now: Date | undefined,
): string {
  const moved = `${now === undefined ? 'would be ' : ''}${by === 'redo' ? 'redone' : 'undone'}`;
  const done = isEmpty ? `nothing could be ${by}ne of` : moved;
  if (turns.length > 0 && turns.length + restores.length === distance?.count) {
    const [quoted = [], theirs = []] = [turns, others].map((some) => some.map((turn) => `"${turn}"`));
    const [named, more] = [[...quoted, ...restores.map(workIn)].join(', '), theirs.join(', ')];
    const since = by === 'redo' ? '' : ', and all since';
    const also = more && `, with changes of ${others.length === 1 ? 'turn' : 'turns'} ${more}`;
    return `${done}: ${turns.length === 1 ? 'turn' : `${turns.length} turns,`} ${named}${since}${also}`;
  }
  const name = snapshot.label === undefined ? shortOid(snapshot.commit) : `"${snapshot.label}"`;
  const named = steps.map(workIn).filter((work) => work !== '');
  const works = named.length === 0 && isOfOthers ? ['changes by you or another program'] : named;
  const { unit, count = 1 } = distance ?? {};
  const unnamed = unit === 'step' && count > 1 ? Math.min(count, steps.length) - works.length : 0;
  const more = unnamed > 0 ? ` and ${plural(unnamed, 'other step')}` : '';
  const passed = by === 'undo' && unit === 'step' ? steps.length - count : 0;
  const [skipped, them] = [`${plural(passed, 'step')} skipped`, passed === 1 ? 'it' : 'them'];
  const heads = [snapshot.head, steps.at(-1)?.head];
  const onBranch = steps.findLast(({ head }) => !heads.includes(head));
  const stays =
    onBranch && `, as your branches stay; agt restore ${shortOid(onBranch.commit)} moves them, too`;
  const over = passed > 0 ? ` (${skipped}: an undo to ${them} changes nothing${stays ?? ''})` : '';
  const end = cut?.steps.at(-1)?.commit;
  const rest = end ? `, not the rest of turn "${cut.prompt}", which is in ${shortOid(end)}` : '';
  const what = works.length === 0 ? '' : `${done}: ${listSome(works, FEW)}${more}${rest}\n`;
  return now === undefined
    ? what.trimEnd()
    : `${what}now at ${name}, ${age(snapshot.time, now)}, step ${step} of ${of}${over}`;
}

/** As the list of snapshots shows it; empty for changes that no event tells of, also if a label names the moment. */
function workIn(snapshot: Snapshot): string {
  const { tool, call, before, label, restored, restoredBy } = snapshot;
  const { outcome = null, summary = null } = call ?? {};
  if (before !== undefined || tool !== undefined)
    return toolNote({ before: before?.tool ?? null, tool: tool ?? null, outcome, summary });
  const isNamed = isBroughtIn(label) || (restored ?? labelByPerson(snapshot)) !== undefined;
  if (label !== undefined && isNamed) return `"${label}"`;
  return restored === undefined || restoredBy !== 'restore' ? '' : restoreNote(restored, restoredBy);
}

export function positionJson({ snapshot, step, of, turns }: Position) {
  const { commit, label = null, time } = snapshot;
  return { snapshot: commit, label, at: time.toISOString(), step, of, turns };
}
