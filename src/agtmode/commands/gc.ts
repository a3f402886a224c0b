import { showSize } from '../../config/values.ts';
import { listStores } from '../../folders/store.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { inDirectory } from '../../git/run/git.ts';
import {
  type FolderOutcome,
  isTidyDue,
  PRUNE_FOLDERS_BEFORE,
  tidyFolders,
} from '../../maintenance/retention/folders.ts';
import { applyRetention, type SessionOutcome } from '../../maintenance/retention/gc.ts';
import { planRetention, type SessionPlan } from '../../maintenance/retention/plan.ts';
import { expiryTime, type PruneResult, pruneAndRepack } from '../../maintenance/retention/prune.ts';
import type { Repository } from '../../repository/repository.ts';
import { retryAfterChange } from '../../session/lock.ts';
import {
  type Arguments,
  defineCommand,
  flag,
  type Report,
  shared,
  withValue,
} from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { errorJson, plural, showPath, verb } from '../output/format.ts';
import { repositoryHere } from '../session-here.ts';

const OPTIONS = {
  thin: flag('thin out the snapshots of active sessions as well'),
  prune: withValue(
    'delete unreachable objects older than this: a time, now or never (default: gc.pruneExpire, else two weeks)',
  ),
  folders: flag(
    'tidy the folders that have snapshots without a session, and no repository (see: agt snapshot)',
  ),
  daily: flag('with --folders: do nothing if that was done today'),
  ...shared('dry-run', 'quiet', 'json'),
} as const;

export const gc = defineCommand({
  usage: 'gc',
  group: 'maintenance',
  summary: 'delete old snapshots and free their disk space',
  description:
    'Delete the snapshots of sessions that were removed more than agt.retention ago, except snapshots that a person ' +
    'labelled. With --thin, thin out active sessions as well: keep every snapshot of the last day, the last one of each ' +
    'hour of the last week, the last one of each day before that, and every labelled one. Thinning gives new commit ids ' +
    'to the snapshots after the first deleted one. With --folders, delete the snapshots of folders that are older than ' +
    'agt.snapshotRetention, but for the last one and those that a person labelled. Then delete unreachable objects that are old enough, and combine ' +
    'small packs.',
  options: OPTIONS,
  examples: [
    ['agt gc --thin --dry-run', 'show how much would be freed'],
    ['agt gc', 'clean up, for example from cron every night'],
  ],
  run: async (args, context) => {
    if (args.folders) return gcFolders(context, args);
    const repository = await repositoryHere(context);
    const pruneBefore = await expiryTime(repository.git, args.prune);
    const request = { thin: args.thin, now: context.now() };
    const isDryRun = args.dryRun;
    const { plans, damaged, bytes, total } = await retryAfterChange(() => planRetention(repository, request));
    for (const problem of damaged) context.err(`error: ${problem}\n`);
    const { outcomes, failures } = isDryRun
      ? { outcomes: plans.map((plan): SessionOutcome => ({ plan })), failures: [] }
      : await applyRetention(repository, request);
    const { disk = null, error } = isDryRun ? {} : await tryToPrune(repository, pruneBefore);
    const freed = outcomes.length === 0 ? 'nothing to delete\n' : `would free ${showSize(total)}\n`;
    const sessions = outcomes.map((outcome) => outcomeJson(outcome, bytes));
    const errors = failures.map((failure) => ({ session_id: failure.id, ...errorJson(failure.error) }));
    return {
      json: isDryRun ? { sessions, bytes: total } : { sessions, errors, disk },
      text: [
        ...outcomes.map((outcome) => describeOutcome(outcome, bytes, isDryRun)),
        ...(isDryRun ? [freed] : []),
        ...(disk === null ? [] : [describeDisk(disk)]),
      ].join(''),
      errors: [...failures.map((failure) => failure.error), ...(error === undefined ? [] : [error])],
      failed: damaged.length > 0,
    };
  },
});

async function tryToPrune(repository: Repository, pruneBefore: string) {
  try {
    return { disk: await retryAfterChange(() => pruneAndRepack(repository, pruneBefore)) };
  } catch (error) {
    return { error };
  }
}

const VERBS: Readonly<Record<SessionPlan['action'], readonly [past: string, plain: string]>> = {
  drop: ['deleted', 'delete'],
  reduce: ['kept the labelled ones, deleted', 'keep the labelled ones, delete'],
  thin: ['thinned out, deleted', 'thin out, delete'],
};

function describeOutcome(
  { plan, workBranch }: SessionOutcome,
  bytes: ReadonlyMap<string, number>,
  isDryRun: boolean,
): string {
  const { record, chain, going, action } = plan;
  const id = record.session_id;
  if (plan.refused !== undefined) return `${id}: skipped: ${plan.refused}\n`;
  const size = showSize(bytes.get(id) ?? 0);
  const kept =
    workBranch === undefined
      ? ''
      : `${id}: kept ${shortBranch(workBranch)}, which has commits that are not merged, or is checked out\n`;
  return `${id}: ${verb(isDryRun, ...VERBS[action])} ${going} of ${plural(chain.snapshots.length, 'snapshot')} (${size})\n${kept}`;
}

/** Part of the object store. */
const WORTH_MENTIONING = 1 / 100;

function describeDisk({ before, after, young, left }: PruneResult): string {
  const lines = [
    after <= before
      ? `object store: ${showSize(after)}, ${showSize(before - after)} freed`
      : `object store: ${showSize(after)}`,
    ...(young > 0
      ? [`${showSize(young)} is unreachable but still too young; to delete it now: agt gc --prune=now`]
      : []),
    ...(left > after * WORTH_MENTIONING
      ? [`${showSize(left)} is unreachable, in packs that are not worth rewriting yet`]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function outcomeJson({ plan, workBranch }: SessionOutcome, bytes: ReadonlyMap<string, number>) {
  return {
    session_id: plan.record.session_id,
    action: plan.action,
    snapshots: plan.chain.snapshots.length,
    going: plan.going,
    bytes: bytes.get(plan.record.session_id) ?? 0,
    work_branch_kept: workBranch && shortBranch(workBranch),
    refused: plan.refused,
  };
}

async function gcFolders(context: Context, args: Arguments<typeof OPTIONS>): Promise<Report> {
  const access = context.folderAccess();
  const [store] = listStores(access);
  const pruneBefore =
    args.prune === undefined || store === undefined
      ? PRUNE_FOLDERS_BEFORE
      : await expiryTime(inDirectory(access.git, store), args.prune);
  const now = context.now();
  const isDue = !args.daily || isTidyDue(access, now);
  const request = { thin: args.thin, now, pruneBefore, dryRun: args.dryRun };
  const outcomes = isDue ? await tidyFolders(access, request) : [];
  return {
    json: { folders: outcomes.map(folderJson) },
    text: outcomes.map((outcome) => describeFolder(outcome, args.dryRun)).join(''),
    errors: outcomes.flatMap(({ error }) => error ?? []),
  };
}

function folderJson({ store, folder, plan, freed, error }: FolderOutcome) {
  return {
    folder: folder ?? null,
    store,
    snapshots: plan?.chain.snapshots.length ?? null,
    going: plan?.going ?? 0,
    bytes: freed,
    refused: plan?.refused ?? null,
    ...errorJson(error),
  };
}

function describeFolder({ store, folder = store, plan, freed }: FolderOutcome, isDryRun: boolean) {
  const name = showPath(folder);
  if (plan?.refused !== undefined) return `${name}: skipped: ${plan.refused}\n`;
  if (plan === undefined && freed === 0) return '';
  const snapshots = `${plan?.going ?? 0} of ${plural(plan?.chain.snapshots.length ?? 0, 'snapshot')}`;
  if (plan === undefined) return `${name}: ${showSize(freed)} freed\n`;
  return `${name}: ${verb(isDryRun, 'deleted', 'delete')} ${snapshots} (${showSize(freed)})\n`;
}
