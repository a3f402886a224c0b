/** agt session restore, undo and redo: back to a snapshot, forward again, and how far that has come. */
import { plural, usageError } from '../../../errors.ts';
import { shownId } from '../../../folders/store.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { commandToCompare, commandToRestore } from '../../../session/advised-commands.ts';
import { snapshotRefs } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { TOP_FOLDERS } from '../../../snapshot/folders.ts';
import { resolveSnapshot } from '../../../snapshot/resolve-snapshot.ts';
import { type Preview, previewRestore } from '../../../timetravel/restore/preview.ts';
import { type RestoreResult, restoreSession } from '../../../timetravel/restore/restore.ts';
import {
  type Distance,
  findRedoTarget,
  findUndoTarget,
  type Position,
  readPosition,
} from '../../../timetravel/restore/undo.ts';
import type { RestoreRequest } from '../../../timetravel/restore/unfinished-restore.ts';
import { pathInSession, readAmbiguousFolders, requireKnownPaths } from '../../../timetravel/session-paths.ts';
import { defineSessionCommand, option, type Report, SNAPSHOT_FORMS } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { age, fileStatus, lines, showPath } from '../../output/format.ts';
import { interruptible } from '../../output/interrupted.ts';

export const sessionRestore = defineSessionCommand({
  name: 'session restore',
  alsoFolders: true,
  summary: 'restore a session to a snapshot',
  description:
    'Restore files, permissions, empty directories, index, HEAD and work branch of a session to a snapshot. Autocommit ' +
    'first, so that agt session undo can take the restore back. Write only files that differ, then check the result ' +
    'against the snapshot. Files that agt never captured stay as they are. A removed session, or one without its ' +
    'folder, can be restored as well.',
  options: {
    to: option.required(`restore this snapshot: ${SNAPSHOT_FORMS}`),
    path: option.many('restore only this file or directory, relative to the sandbox'),
    only: { type: 'string', choices: [...TOP_FOLDERS], describe: 'restore only this folder of the session' },
    ...option.shared('dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt session restore --to "10 minutes ago"', 'restore the session of the current directory'],
    ['agt session restore fix-login --to @{3} --path src/login.ts', 'restore one file'],
    ['agt session restore fix-login --to "tests pass" --dry-run', 'show what would change'],
  ],
  check: (args) => {
    // It would be the current directory, and a script with an unset variable would restore everything.
    if (args.path?.includes('') === true)
      throw usageError('--path is empty', 'give a path, or leave it out to restore everything');
    if (args.path !== undefined && args.only !== undefined)
      throw usageError('--path and --only exclude each other', 'a path may begin with xdg/ or config/');
  },
  run: async (args, context, session) => {
    const { repository, record } = session;
    const now = context.now();
    const snapshot = await resolveSnapshot(repository.git, snapshotRefs(record), args.to, now);
    const namesakes = await readAmbiguousFolders(repository.git, [snapshot.commit]);
    const paths = (args.path ?? []).map((path) => pathInSession(record, path, context.cwd, namesakes));
    await requireKnownPaths(repository.git, record, snapshot, paths);
    const folders = args.only === undefined ? TOP_FOLDERS : [args.only];
    const request: RestoreRequest = {
      scope: paths.length > 0 ? paths : folders,
      by: 'restore',
      now,
      choose: async () => snapshot,
    };
    return restore(context, session, request, args.dryRun);
  },
});

const moveOptions = {
  turn: option.flag(
    'a turn of the agent, from one prompt to the next, in place of a step; without any prompt, a step',
  ),
  ...option.shared('dry-run', 'quiet', 'json'),
} as const;

const elsewhere = { '--path': 'agt session restore --to SNAPSHOT --path PATH' };

export const sessionUndo = defineSessionCommand({
  name: 'session undo',
  alsoFolders: true,
  summary: 'go back to the previous snapshot, or take back a restore',
  description:
    'Autocommit, then restore the snapshot before that. Repeat to go further back. agt session redo goes forward again, ' +
    'as long as nothing else changes the session. As a prompt of an agent, agt undo takes a turn back, as --turn does.',
  options: moveOptions,
  elsewhere,
  examples: [
    ['agt session undo', 'go back one snapshot in the session of the current directory'],
    ['agt session undo --turn', 'take back everything since the last prompt that changed something'],
    ['agt session undo fix-login --dry-run', 'show what would change'],
  ],
  run: (args, context, session) => move(context, session, args, 'undo'),
});

export const sessionRedo = defineSessionCommand({
  name: 'session redo',
  alsoFolders: true,
  summary: 'take back the last agt session undo',
  options: moveOptions,
  elsewhere,
  examples: [['agt session redo', 'go forward again in the session of the current directory']],
  run: (args, context, session) => move(context, session, args, 'redo'),
});

function move(
  context: Context,
  session: Session,
  { turn, dryRun }: { readonly turn: boolean; readonly dryRun: boolean },
  by: 'undo' | 'redo',
): Promise<Report> {
  const findTarget = by === 'undo' ? findUndoTarget : findRedoTarget;
  const distance: Distance = turn ? 'turn' : 'step';
  const request: RestoreRequest = {
    scope: TOP_FOLDERS,
    by,
    now: context.now(),
    choose: (uncaptured) => findTarget(session, uncaptured, distance),
  };
  return restore(context, session, request, dryRun, distance);
}

async function restore(
  context: Context,
  session: Session,
  request: RestoreRequest,
  dryRun: boolean,
  distance?: Distance,
): Promise<Report> {
  const { by } = request;
  if (dryRun) return reportPreview(await previewRestore(session, request));
  const restored = await interruptible(context, session, restoreSession, request);
  const position = by === 'restore' ? undefined : await readPosition(session.with(restored.record), by);
  return reportRestore(context, restored, by, position, distance);
}

function reportPreview({ record, snapshot, paths }: Preview): Report {
  const changes = paths.map(({ kind, path }) => ({ path, status: fileStatus(kind) }));
  const blocked = paths.filter(({ kind }) => kind === '!').length;
  const others = plural(paths.length - blocked, 'path');
  const not = blocked === 0 ? '' : `, not ${blocked} with something in the way`;
  return {
    json: { session_id: record.session_id, snapshot: snapshot.commit, changes, dry_run: true },
    text: lines([
      ...paths.map(({ kind, path }) => `${kind} ${showPath(path)}`),
      `${shownId(record)}: would restore ${others} to ${shortOid(snapshot.commit)}${not}`,
    ]),
  };
}

/** `position`: where an undo or a redo has come to. */
function reportRestore(
  context: Context,
  restored: RestoreResult,
  by: RestoreRequest['by'],
  position: Position | undefined,
  distance: Distance | undefined,
): Report {
  const { record, snapshot, before, commit, changed, mismatches, warnings } = restored;
  const isPrompt = context.isPrompt === true;
  const verified = mismatches.length === 0;
  const undo = before === undefined ? undefined : commandToRestore(record, shortOid(before));
  // An undo after a restore that changed nothing would go to the step before.
  const promptBack = undo && changed > 0 ? (by === 'undo' ? 'agt redo' : 'agt undo') : undefined;
  const back = isPrompt ? promptBack : undo;
  for (const warning of warnings) context.err(`warning: ${warning}\n`);
  const text = [
    `${shownId(record)}: restored ${plural(changed, 'path')}, ${verified ? 'verified' : 'some differ from the snapshot'}`,
    position && describePosition(position, by, distance, context.now()),
    back !== undefined && `to undo: ${back}`,
  ];
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
    text: lines(text),
    warnings: verified ? '' : describeMismatches(restored, isPrompt, by !== 'restore'),
    failed: !verified,
  };
}

/** `now at "npm installed", 3 minutes ago, 2 of 5`, or the turn that is gone or back. */
function describePosition(
  { snapshot, step, of, turn }: Position,
  by: RestoreRequest['by'],
  distance: Distance | undefined,
  now: Date,
): string {
  if (distance === 'turn' && turn !== undefined)
    return by === 'redo' ? `this brings the turn "${turn}" back` : `this takes the turn "${turn}" back`;
  const name = snapshot.label === undefined ? shortOid(snapshot.commit) : `"${snapshot.label}"`;
  return `now at ${name}, ${age(snapshot.time, now)}, ${step} of ${of}`;
}

function positionJson({ snapshot, turn, ...steps }: Position) {
  const { commit, label = null, time } = snapshot;
  return { snapshot: commit, label, at: time.toISOString(), ...steps, turn: turn ?? null };
}

/** Paths that differ after a restore beside a writer: a screenful. */
const MOST_LISTED = 20;

/** `isMove`: the next undo would go on from here. */
function describeMismatches(restored: RestoreResult, isPrompt: boolean, isMove: boolean): string {
  const { record, snapshot, mismatches } = restored;
  const commit = shortOid(snapshot.commit);
  const differing = mismatches.length === 1 ? '1 path differs' : `${mismatches.length} paths differ`;
  const see = isPrompt ? '' : `; see: ${commandToCompare(record, commit)} --name-status`;
  const again = isPrompt ? `agt restore ${commit}` : commandToRestore(record, commit);
  return lines([
    `error: ${differing} from snapshot ${commit}:`,
    ...mismatches.slice(0, MOST_LISTED).map((path) => `  ${showPath(path)}`),
    mismatches.length > MOST_LISTED && `  and ${mismatches.length - MOST_LISTED} more${see}`,
    isMove && `hint: to try again: ${again}`,
  ]);
}
