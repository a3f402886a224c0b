import { existsSync } from 'node:fs';
import { showSize } from '../../config/values.ts';
import { AgtError, isAgtError, plural, usageError } from '../../errors.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { keptSize } from '../../folders/git-state/kept-repositories.ts';
import { hasStore, listStores, openListedStore } from '../../folders/store.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import { objectStoreSize } from '../../git/objects/object-store.ts';
import { diskUse } from '../../maintenance/retention/du.ts';
import { readChain } from '../../maintenance/retention/plan.ts';
import { beginAnew, bringBack } from '../../session/advised-commands.ts';
import { namedSession } from '../../session/find-session.ts';
import { listRecords } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { defineCommand, givenSession, option } from '../command-line/command.ts';
import type { Answer, Report } from '../command-line/report.ts';
import type { Context } from '../context.ts';
import { everywhere } from '../everywhere.ts';
import { age, errorJson, showPath, table } from '../output/format.ts';
import { folderHere, repositoryHere } from '../session-here.ts';

export const du = defineCommand({
  usage: 'du [id]',
  summary: 'show the disk space that the snapshots of each session use',
  description:
    'Show two sizes for each session. Deleting its snapshots would free its "own" size; snapshots of other sessions use ' +
    'the "shared" size as well. Objects that your branches or the work branches need are not counted. The snapshots of a fork are all that agt ' +
    'session log lists, also those from before the fork.',
  positionals: { id: option.value('session id (default: all sessions)') },
  options: {
    ...option.shared('session'),
    folders: option.flag(
      'show all folders that have snapshots without a session (see: agt snapshot), with the disk blocks that these take',
    ),
    ...option.shared('everywhere', 'json'),
  },
  examples: [['agt du', 'show every session, and the free disk space']],
  run: async function du(args, context): Promise<Answer> {
    if (args.everywhere && (args.folders || givenSession(args) !== undefined))
      throw usageError('--everywhere takes no session and no --folders', 'leave out one of them');
    if (args.everywhere) return everywhere(context, (there) => du({ ...args, everywhere: false }, there));
    if (args.folders) return reportFolders(context);
    const repository = await repositoryHere(context);
    const given = givenSession(args);
    const only = given === undefined ? undefined : namedSession(repository, given).session_id;
    const { each, total, free } = await diskUse(repository);
    const { records } = listRecords(repository);
    const wanted = records.filter(({ session_id }) => only === undefined || session_id === only);
    const sessions = await Array.fromAsync(wanted, async (record) => {
      const { session_id, state } = record;
      const { own = 0, shared = 0 } = each.get(session_id) ?? {};
      const snapshots = (await new Session(repository, record).history()).length;
      return { session_id, state, snapshots, own, shared };
    });
    const budget = repository.settings.budget ?? null;
    const rows = sessions.map(({ session_id, state, snapshots, own, shared }) => [
      session_id,
      state,
      plural(snapshots, 'snapshot'),
      `${showSize(own)} own`,
      shared === 0 ? '' : `${showSize(shared)} shared`,
    ]);
    const { folder, user } = await folderHere(context);
    const isBeside = only === undefined && user !== undefined && hasStore(context.folderAccess(), folder);
    return {
      json: { sessions, total, budget, free },
      notes: isBeside ? `note: ${showPath(folder)} has snapshots without a session: agt du --folders\n` : '',
      text: `${table(rows)}total ${only === undefined ? '' : 'of all sessions '}${totalLine(total, budget, free)}`,
    };
  },
});

function totalLine(total: number, budget: number | null, free: number): string {
  const limit = budget === null ? '' : ` of a budget of ${showSize(budget)}`;
  return `${showSize(total)}${limit}, ${Number.isFinite(free) ? showSize(free) : 'unknown'} free\n`;
}

type FolderUse = NonNullable<Awaited<ReturnType<typeof measure>>>;

/** A store that cannot be read is named, and the others are shown. */
async function reportFolders(context: Context): Promise<Report> {
  const measured = await Array.fromAsync(listStores(context.folderAccess()), (store) =>
    measure(context, store).catch((error: unknown) => ({ error })),
  );
  const uses = measured.filter((use): use is FolderUse => use !== undefined && 'store' in use);
  const errors = measured.flatMap((use) => use?.error ?? []);
  const total = uses.reduce((sum, { bytes }) => sum + bytes, 0);
  const gone = uses.find(({ exists, snapshots }) => !exists && snapshots !== undefined);
  return {
    json: { folders: uses.map(useJson), total },
    text: `${table(uses.map((use) => row(use, context.now())))}total ${showSize(total)}\n`,
    errors,
    notes: gone === undefined ? '' : `hint: to bring a folder back: ${bringBack(gone.folder)}\n`,
  };
}

/** Without `snapshots`, they cannot be read, as `error` says. */
async function measure(context: Context, store: string) {
  const session = openListedStore(context.folderAccess(), store);
  if (session === undefined) return undefined;
  const { repository, record } = session;
  const folder = record.checkout ?? record.sandbox;
  const bytes = objectStoreSize(`${repository.commonDir}/objects`) + keptSize(repository.agtDir);
  const about = { folder, exists: existsSync(folder), store, bytes };
  try {
    const snapshots = await readSnapshots(session);
    return { ...about, snapshots: snapshots.length, last: snapshots[0]?.time, error: undefined };
  } catch (error) {
    return { ...about, snapshots: undefined, last: undefined, error: unreadable(session, error) };
  }
}

/** @throws AgtError also where git has no answer but "no". */
async function readSnapshots(session: Session): Promise<readonly Snapshot[]> {
  if ((await findObject(session.git, tipRef(session.id))) === undefined)
    throw new AgtError(`its store is damaged: ${session.repository.commonDir}`);
  return (await readChain(session)).snapshots;
}

function unreadable({ repository, record }: Session, error: unknown): unknown {
  if (!isAgtError(error)) return error;
  const { message, hints, exitCode } = error;
  const folder = showPath(record.checkout ?? record.sandbox);
  return new AgtError(`cannot read the snapshots of ${folder}: ${message}`, {
    hints: hints.length === 0 ? [beginAnew(repository.commonDir)] : hints,
    exitCode,
  });
}

function useJson({ last, snapshots, error, ...use }: FolderUse) {
  const why = error === undefined ? {} : errorJson(error);
  return { ...use, snapshots: snapshots ?? null, last_at: last?.toISOString() ?? null, ...why };
}

function row({ folder, exists, snapshots, last, bytes }: FolderUse, now: Date): string[] {
  return [
    showPath(folder),
    snapshots === undefined ? 'unreadable' : plural(snapshots, 'snapshot'),
    last === undefined ? '' : age(last, now),
    showSize(bytes),
    exists ? '' : 'the folder is gone',
  ];
}
