import { EXIT } from '../../../errors.ts';
import { knownRefusal } from '../../../session/attached/refuse.ts';
import { previewCapture } from '../../../session/capture-session.ts';
import { isAttached, snapshotRefs } from '../../../session/record.ts';
import { readHistory } from '../../../snapshot/history.ts';
import { readSteps } from '../../../timetravel/restore/undo.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { age, json, plural, shortOid, showPath, table } from '../../output/format.ts';
import { pathIn } from '../../output/session.ts';
import { fileStatus } from '../../output/vocabulary.ts';
import { folderHere, type SessionHere, sessionIfAny } from '../../session-here.ts';

export const snapshotStatus = defineCommand({
  usage: 'snapshot status',
  group: 'snapshots',
  summary: 'show the last snapshot of this folder, and what has changed since',
  options: { json: JSON_OPTION },
  examples: [['agt snapshot status', 'see whether this folder has snapshots, and where agt keeps them']],
  run: async (args, context) => {
    const here = await sessionIfAny(context);
    if (here === undefined || (await isRefused(context, here))) return printNone(context, args.json);
    const status = await readStatus(here, context.now());
    if (args.json) context.out(json(statusJson(here, status)));
    else context.out(statusText(here, status, context.now()));
    return EXIT.done;
  },
});

/** A folder with too many files has a store without snapshots. */
async function isRefused(context: Context, { repository, record }: SessionHere): Promise<boolean> {
  if (!isAttached(record) || record.checkout === undefined) return false;
  if (knownRefusal(context.folderAccess(), record.checkout) === undefined) return false;
  return (await readHistory(repository.git, snapshotRefs(record))).length === 0;
}

async function printNone(context: Context, asJson: boolean): Promise<number> {
  const { folder } = await folderHere(context);
  const refusal = knownRefusal(context.folderAccess(), folder);
  if (asJson) context.out(json({ folder, store: null, snapshots: 0, refused: refusal ?? null }));
  else if (refusal !== undefined) context.out(`no snapshots of ${showPath(folder)}: ${refusal}\n`);
  else context.out(`no snapshots of ${showPath(folder)} yet; take one: agt snapshot\n`);
  return EXIT.done;
}

type Status = Awaited<ReturnType<typeof readStatus>>;

async function readStatus({ repository, record }: SessionHere, now: Date) {
  const history = await readHistory(repository.git, snapshotRefs(record));
  const { steps, current } = await readSteps(repository, history);
  const preview = await previewCapture(repository, record, { now });
  return { history, steps, current, changes: preview.changes, failed: preview.failed };
}

function statusJson({ repository, record }: SessionHere, { history, steps, current, changes }: Status) {
  const [last] = history;
  return {
    folder: record.checkout ?? record.sandbox,
    session_id: record.session_id,
    store: repository.commonDir,
    snapshots: history.length,
    last: last === undefined ? null : lastJson(last),
    position: { step: current + 1, of: steps.length },
    unfinished: record.intent?.operation ?? null,
    changes: changes.map(({ path, kind }) => ({ path: pathIn(record, path), status: fileStatus(kind) })),
  };
}

function lastJson({ commit, tree, time, label }: Status['history'][number]) {
  return { commit, tree, at: time.toISOString(), label: label ?? null };
}

function statusText({ repository, record }: SessionHere, status: Status, now: Date): string {
  const { history, steps, current, changes } = status;
  const [last] = history;
  const newest =
    last && `${shortOid(last.commit)}, ${age(last.time, now)}${last.label ? `, "${last.label}"` : ''}`;
  const rows = [
    ['folder', showPath(record.checkout ?? record.sandbox)],
    ['store', repository.commonDir],
    ['snapshots', String(history.length)],
    ...(newest === undefined ? [] : [['last', newest]]),
    ...(current + 1 < steps.length
      ? [['position', `${current + 1} of ${steps.length}; agt redo goes forward`]]
      : []),
    ...(record.intent === undefined
      ? []
      : [['unfinished', `${record.intent.operation}; the same command goes on, agt undo goes back`]]),
    [
      'changed',
      changes.length === 0
        ? 'nothing since'
        : `${plural(changes.length, 'path')} since; see: agt snapshot diff`,
    ],
  ];
  return table(rows);
}
