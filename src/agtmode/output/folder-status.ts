/** The snapshots of the folder or session that the user is in, and what has changed since the last one. */
import { LOST_REPOSITORY } from '../../autocommit/capture.ts';
import { showSize } from '../../config/values.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { FEW, isAgtError, listSome, plural, someLines, systemFailure } from '../../errors.ts';
import {
  capturedPlaces,
  capturedRefs,
  differing,
  readGitState,
  refsIn,
} from '../../folders/git-state/read-state.ts';
import { nameOf } from '../../folders/git-state/ref-plan.ts';
import { knownRefusal, whyRefused } from '../../folders/refuse.ts';
import { ignoredAndLeftOut } from '../../folders/small-ignored.ts';
import { shownPath } from '../../folders/store.ts';
import { shortBranch, shortOid } from '../../git/files/ref-files.ts';
import {
  agtInFolder,
  captureAndRestore,
  commandToMove,
  commandToRestore,
} from '../../session/advised-commands.ts';
import { readAgentState } from '../../session/agent-state.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { Intent } from '../../session/state.ts';
import { isBuildOutput } from '../../snapshot/build-output.ts';
import { commandToMoveBack, type MovedBranch, movedBranches } from '../../timetravel/moved-branches.ts';
import { readSteps } from '../../timetravel/restore/steps.ts';
import { readStrays, type Stray } from '../../timetravel/strays.ts';
import { captureTarget, previewCapture } from '../../workspace/capture-session.ts';
import type { Context } from '../context.ts';
import { folderHere } from '../session-here.ts';
import { age, FILE_STATUS, orNull, showPath, table } from './format.ts';
import { leftOutRows } from './session.ts';

/** `here`: undefined if the folder has no store. */
export async function readFolderStatus(context: Context, here: Session | undefined) {
  if (here === undefined || (await isRefused(context, here))) return withoutSnapshots(context);
  const { repository, record } = here;
  const now = context.now();
  const program = agtInFolder(context.cwd);
  const known = await readSteps(here);
  const { history, steps, current, zero } = known;
  const position = { step: Math.max(0, current - zero), of: steps.length - 1 - zero };
  const { changes, skipped = [], problem, isUncaptured, isLost } = await readChanges(here, now);
  const isCaptured = changes?.length === 0;
  const since = new Date(now.getTime() - TOLD_MS);
  const strays = (await readStrays(here, known, since)).map((one) => strayJson(record, one, isCaptured));
  const moves = await movedBranches(here, history, since);
  const moved = await Promise.all(moves.map((one) => movedJson(here, one)));
  const left = isAttached(record) ? await ignoredAndLeftOut(captureTarget(here)).catch(() => []) : [];
  const [last] = history;
  const folder = record.checkout ?? record.sandbox;
  const json = {
    folder,
    session_id: record.session_id,
    store: repository.commonDir,
    snapshots: history.length,
    last: last
      ? { commit: last.commit, tree: last.tree, at: last.time.toISOString(), label: last.label ?? null }
      : null,
    position,
    unfinished: record.intent?.operation ?? null,
    changes:
      changes?.map(({ path, kind }) => ({ path: shownPath(record, path), status: FILE_STATUS[kind] })) ??
      null,
    left_out: left.map(({ path, files, bytes }) => ({
      path: shownPath(record, displayPath(path)),
      ...{ files: files ?? null, bytes: bytes ?? null },
    })),
    skipped: skipped.map(({ path, reason }) => ({ path: shownPath(record, path), reason })),
    problem,
    by_sessions: strays,
    moved_branches: moved,
    ...orNull({ agent_state: readAgentState(repository.agtDir, record.session_id) }),
  };
  const newest =
    last && `${shortOid(last.commit)}, ${age(last.time, now)}${last.label ? `, "${last.label}"` : ''}`;
  const count = changes?.length ?? 0;
  const isOfGit = isUncaptured && isAttached(record) && count === 0 && !isLost;
  const refs = last && isOfGit ? await refsSince(here, last.commit) : undefined;
  const none =
    refs === undefined
      ? `${isLost ? 'no file' : 'nothing'} since`
      : `no file since, but in git: ${listSome(refs, FEW)}`;
  const changed = count > 0 ? `${plural(count, 'path')} since; see: ${program} snapshot diff` : none;
  const rows = [
    ['folder', showPath(folder)],
    ['store', repository.commonDir],
    ['snapshots', String(history.length)],
    newest !== undefined && ['last', newest],
    position.step < position.of && [
      'position',
      `step ${position.step} of ${position.of}${isUncaptured ? '' : `; ${program} redo goes forward`}`,
    ],
    record.intent !== undefined && ['unfinished', describeUnfinished(program, record.intent)],
    ['changed', changes === undefined ? `agt cannot tell: ${problem}` : changed],
    isLost && ['', `its git repository is gone; to bring it back: ${captureAndRestore(record)}`],
    ...describeStrays(strays, now),
    ...moved.flatMap((one) => describeMoved(one, now)),
    ...leftOutRows(record, skipped, 'not taken'),
    ...describeLeftOut(json.left_out),
  ];
  return { json, text: table(rows) };
}

/** So long agt tells of what an agent of a session has done here: a day. */
const TOLD_MS = 24 * 3_600_000;

function strayJson(record: SessionRecord, stray: Stray, isCaptured: boolean) {
  const { snapshot, sessions, before, paths, isLast } = stray;
  const { agent, tool, call, time, commit } = snapshot;
  const isKnown = sessions.length === 1 && call !== undefined;
  const about = { agent, tool, call_id: call?.id, summary: call?.summary };
  const unknown = { agent: null, tool: null, call_id: null, summary: null };
  const shown = paths.map((path) => shownPath(record, displayPath(path)));
  // That step alone goes: a person may have gone on in its files.
  const step = `${commandToMove(record, 'undo')} --step ${shortOid(commit)}`;
  const back = shown.length > 0 ? step : commandToRestore(record, shortOid(before));
  return {
    session_id: sessions.length === 1 ? (sessions[0] ?? null) : null,
    ...(isKnown ? orNull(about) : unknown),
    among: sessions,
    at: time.toISOString(),
    commit,
    paths: shown,
    take_back: isLast && isCaptured ? commandToMove(record, 'undo') : back,
  };
}

function describeStrays(strays: readonly ReturnType<typeof strayJson>[], now: Date): [string, string][] {
  return strays.flatMap(({ among, agent, tool, call_id, summary, at, paths, take_back }) => {
    const call = [tool, summary].filter((part) => part !== null).join(': ');
    const ids = [agent, call_id].filter((part) => part !== null).join(', ');
    const by = ids === '' ? 'a call' : `${call} (${ids})`;
    const what = paths.length === 0 ? 'the repository' : listSome(paths, FEW);
    return [
      ['by session', showPath(`${among.join(' or ')}, ${age(new Date(at), now)}: ${by} has changed ${what}`)],
      ['', `to take it back: ${showPath(take_back)}`],
    ];
  });
}

async function movedJson(here: Session, move: MovedBranch) {
  const { ref, from, to, snapshot, lacks } = move;
  return {
    branch: shortBranch(ref),
    ...orNull({ from, to, agent: snapshot.agent }),
    ...{ at: snapshot.time.toISOString(), commit: snapshot.commit },
    lacks: lacks ?? null,
    replaced: move.isReplaced ?? false,
    take_back: move.isReplaced
      ? commandToRestore(here.record, shortOid(snapshot.previous ?? ''))
      : await commandToMoveBack(here, move),
  };
}

function describeMoved(
  { branch, from, to, agent, at, lacks, replaced, take_back }: Awaited<ReturnType<typeof movedJson>>,
  now: Date,
): [string, string][] {
  const moves = to === null ? 'has deleted' : 'has moved';
  const does = lacks === null ? moves : `has taken ${plural(lacks.length, 'commit')} off`;
  const which = replaced
    ? `has replaced the repository, in which branch ${branch} was`
    : `${does} branch ${branch}, which was`;
  const what = `${agent ?? 'an agent'} ${which} at ${shortOid(from ?? '')}`;
  const it = lacks === null || lacks.length === 1 ? 'it' : 'them';
  return [
    ['branch', showPath(`${age(new Date(at), now)}: ${what}`)],
    ['', `to bring ${it} back: ${showPath(take_back)}`],
  ];
}

/** A folder with too many files has a store without snapshots. */
async function isRefused(context: Context, session: Session): Promise<boolean> {
  const { checkout } = session.record;
  if (!isAttached(session.record) || checkout === undefined) return false;
  if (knownRefusal(context.folderAccess(), checkout) === undefined) return false;
  return (await session.history()).length === 0;
}

async function withoutSnapshots(context: Context) {
  const { folder, user } = await folderHere(context);
  const access = context.folderAccess();
  const refused = knownRefusal(access, folder) ?? whyRefused(access, folder, user)?.[0] ?? null;
  const why = refused === null ? ` yet; take one: ${agtInFolder(context.cwd)} snapshot` : `: ${refused}`;
  const text = `no snapshots of ${showPath(folder)}${why}\n`;
  return { json: { folder, store: null, snapshots: 0, refused }, text };
}

/** The snapshots can be read on a disk that is full or read-only, too. */
async function readChanges(session: Session, now: Date) {
  try {
    const { changes, outcome, warnings, ...result } = await previewCapture(session, { now });
    const skipped = result.skipped.filter(({ path }) => !path.endsWith('/.git'));
    const isLost = warnings.includes(LOST_REPOSITORY);
    return { changes, skipped, isUncaptured: outcome !== 'unchanged', isLost };
  } catch (error) {
    const problem = isAgtError(error) ? error.message : systemFailure(error);
    if (problem === undefined) throw error;
    return { problem };
  }
}

/** Of a folder's repository, for people. Without any, its path or its index has changed, or an operation of git. */
async function refsSince({ repository, record }: Session, last: string): Promise<string[]> {
  const then = (await capturedRefs(repository.git, last)) ?? new Map<string, string>();
  const state = await readGitState(repository, record.checkout ?? record.sandbox);
  const refs = state === undefined ? [] : differing(then, refsIn(state)).map(nameOf);
  if (refs.length > 0) return refs;
  const places = await capturedPlaces(repository.git, last);
  return [places?.gitDir === state?.gitDir ? 'the index, or another file that git keeps' : 'its path'];
}

/** The largest first, by what git ignores. */
function describeLeftOut(left: readonly { path: string; files: number | null; bytes: number | null }[]) {
  const lines = left.toReversed().map(({ path, files, bytes }) => {
    const amount = bytes === null ? 'very many files' : `${plural(files ?? 0, 'file')}, ${showSize(bytes)}`;
    return `${showPath(path)}: ${amount}`;
  });
  const rows = someLines(lines, FEW).map((line, i) => [i === 0 ? 'left out' : '', line]);
  const isBuilt = left.every(({ path }) => isBuildOutput(path.slice(path.lastIndexOf('/') + 1)));
  const more = isBuilt ? '' : '; a larger agt.ignoredFiles or agt.ignoredSize takes all but build output';
  const why = `git ignores these; to take them, name them in .worktreeinclude${more}`;
  return rows.length === 0 ? [] : [...rows, ['', why]];
}

function describeUnfinished(program: string, intent: Intent): string {
  const by = intent.operation === 'restore' ? intent.by : intent.operation;
  const undo = `${program} undo`;
  return by === 'undo' ? `undo; ${undo} goes on` : `${by}; the same command goes on, ${undo} goes back`;
}
