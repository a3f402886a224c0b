/** The snapshots of the folder or session that the user is in, and what has changed since the last one. */
import { isAgtError, plural, systemFailure } from '../../errors.ts';
import { knownRefusal } from '../../folders/refuse.ts';
import { shownPath } from '../../folders/store.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { isAttached } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { Intent } from '../../session/state.ts';
import { readSteps } from '../../timetravel/restore/undo.ts';
import { previewCapture } from '../../workspace/capture-session.ts';
import type { Context } from '../context.ts';
import { folderHere } from '../session-here.ts';
import { age, fileStatus, showPath, table } from './format.ts';

/** `here`: undefined if the folder has no store. */
export async function readFolderStatus(context: Context, here: Session | undefined) {
  if (here === undefined || (await isRefused(context, here))) return withoutSnapshots(context);
  const { repository, record } = here;
  const now = context.now();
  const { history, steps, current } = await readSteps(here);
  const { changes, problem } = await readChanges(here, now);
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
    position: { step: current + 1, of: steps.length },
    unfinished: record.intent?.operation ?? null,
    changes:
      changes?.map(({ path, kind }) => ({ path: shownPath(record, path), status: fileStatus(kind) })) ?? null,
    problem,
  };
  const newest =
    last && `${shortOid(last.commit)}, ${age(last.time, now)}${last.label ? `, "${last.label}"` : ''}`;
  const count = changes?.length ?? 0;
  const since = count === 0 ? 'nothing since' : `${plural(count, 'path')} since; see: agt snapshot diff`;
  const rows = [
    ['folder', showPath(folder)],
    ['store', repository.commonDir],
    ['snapshots', String(history.length)],
    newest !== undefined && ['last', newest],
    current + 1 < steps.length && ['position', `${current + 1} of ${steps.length}; agt redo goes forward`],
    record.intent !== undefined && ['unfinished', describeUnfinished(record.intent)],
    ['changed', changes === undefined ? `agt cannot tell: ${problem}` : since],
  ];
  return { json, text: table(rows) };
}

/** A folder with too many files has a store without snapshots. */
async function isRefused(context: Context, session: Session): Promise<boolean> {
  const { checkout } = session.record;
  if (!isAttached(session.record) || checkout === undefined) return false;
  if (knownRefusal(context.folderAccess(), checkout) === undefined) return false;
  return (await session.history()).length === 0;
}

async function withoutSnapshots(context: Context) {
  const { folder } = await folderHere(context);
  const refused = knownRefusal(context.folderAccess(), folder);
  const shown = showPath(folder);
  const text =
    refused === undefined
      ? `no snapshots of ${shown} yet; take one: agt snapshot\n`
      : `no snapshots of ${shown}: ${refused}\n`;
  return { json: { folder, store: null, snapshots: 0, refused: refused ?? null }, text };
}

/** The snapshots can be read on a disk that is full or read-only, too. */
async function readChanges(session: Session, now: Date) {
  try {
    return { changes: (await previewCapture(session, { now })).changes };
  } catch (error) {
    const problem = isAgtError(error) ? error.message : systemFailure(error);
    if (problem === undefined) throw error;
    return { problem };
  }
}

function describeUnfinished(intent: Intent): string {
  const by = intent.operation === 'restore' ? intent.by : intent.operation;
  return by === 'undo' ? 'undo; agt undo goes on' : `${by}; the same command goes on, agt undo goes back`;
}
