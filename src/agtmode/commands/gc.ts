import { showSize } from '../../config/values.ts';
import { listSome, plural, usageError } from '../../errors.ts';
import { listStores } from '../../folders/store.ts';
import { shortBranch, shortOid } from '../../git/files/ref-files.ts';
import { inDirectory } from '../../git/run/git.ts';
import {
  type FolderOutcome,
  isTidyDue,
  PRUNE_FOLDERS_BEFORE,
  tidyFolders,
} from '../../maintenance/retention/folders.ts';
import { applyRetention, makeRoom, type SessionOutcome, workOf } from '../../maintenance/retention/gc.ts';
import { planRetention, type SessionPlan } from '../../maintenance/retention/plan.ts';
import {
  expiryTime,
  type GarbageFile,
  type PruneResult,
  previewPrune,
  pruneAndRepack,
} from '../../maintenance/retention/prune.ts';
import { endingAtSteps } from '../../process/interrupts.ts';
import type { Repository } from '../../repository/repository.ts';
import { advisedIn } from '../../session/advised-commands.ts';
import { retryAfterChange } from '../../session/lock.ts';
import { Session } from '../../session/session.ts';
import type { Share } from '../../session/share-file.ts';
import { copiesOnRemotes, heldByRemotes } from '../../travel/held.ts';
import { readKeys } from '../../travel/keys.ts';
import { type Arguments, defineCommand, option } from '../command-line/command.ts';
import type { Report } from '../command-line/report.ts';
import type { Context } from '../context.ts';
import { errorJson, lines, showPath, verb } from '../output/format.ts';
import { repositoryHere } from '../session-here.ts';

const OPTIONS = {
  thin: option.flag('thin out the snapshots of active sessions as well'),
  pushed: option.flag('do not wait for agt.retention with ended sessions of which a remote has everything'),
  prune: option.value(
    'delete unreachable objects older than this: a time, now or never (default: gc.pruneExpire, else two weeks)',
  ),
  folders: option.flag(
    'tidy the folders that have snapshots without a session (see: agt snapshot), in place of this repository',
  ),
  daily: option.flag('with --folders: do nothing if that was done today'),
  progress: option.flag('show the progress also where standard error is no terminal'),
  ...option.shared('dry-run', 'quiet', 'json'),
} as const;

export const gc = defineCommand({
  usage: 'gc',
  summary: 'delete old snapshots and free their disk space',
  description:
    'Delete the snapshots of sessions that were removed more than agt.retention ago, except snapshots that a person ' +
    'labelled. With --thin, thin out active sessions as well: keep every snapshot of the last day, the last one of each ' +
    'hour of the last week, the last one of each day before that, the end of each turn of an agent, and every labelled one. Thinning gives new commit ids ' +
    'to the snapshots after the first deleted one. With --pushed, delete the snapshots of every ended session that a ' +
    'remote has (see: agt session push), unless a person labelled one. With --folders, delete the snapshots of folders that are older than ' +
    'agt.snapshotRetention, but for the last one and those that a person labelled. Then delete unreachable objects that are old enough, and combine ' +
    'small packs.',
  options: OPTIONS,
  examples: [
    ['agt gc --thin --dry-run', 'show how much would be freed'],
    ['agt gc', 'clean up, for example from cron every night'],
  ],
  run: (args, context) =>
    endingAtSteps(
      () => undefined,
      () => cleanUp(args, context),
    ),
});

async function cleanUp(args: Arguments<typeof OPTIONS>, context: Context): Promise<Report> {
  if (args.folders && args.pushed)
    throw usageError('--folders and --pushed cannot go together', 'give one of them');
  if (args.daily && !args.folders)
    throw usageError('--daily goes only with --folders', 'add --folders, or leave --daily out');
  if (args.folders) return gcFolders(context, args);
  const repository = await repositoryHere(context);
  const pruneBefore = await expiryTime(repository.git, args.prune);
  const { held, stays = new Map<string, string>() } = args.pushed
    ? await heldByRemotes(repository, await readKeys(context.env))
    : {};
  const request = { thin: args.thin, now: context.now(), held };
  const copies = copiesOnRemotes(repository);
  const { dryRun } = args;
  if (!dryRun) makeRoom(repository);
  const { plans, damaged, bytes, total } = await retryAfterChange(() => planRetention(repository, request));
  for (const problem of damaged) context.err(`error: ${problem}\n`);
  const { outcomes, failures } = dryRun
    ? { outcomes: await Array.fromAsync(plans, (plan) => preview(repository, plan)), failures: [] }
    : await applyRetention(repository, request);
  const errors = failures.map((failure) => failure.error);
  const pruned = dryRun ? undefined : retryAfterChange(() => pruneAndRepack(repository, pruneBefore));
  const disk = (await pruned?.catch((error: unknown) => void errors.push(error))) ?? null;
  const unreachable = dryRun ? await previewPrune(repository, pruneBefore) : { expired: 0, young: 0 };
  const coming = total + unreachable.expired;
  const isNothing = outcomes.length === 0 && coming === 0;
  const time = pruneBefore.replace(/\.ago$/, '').replaceAll('.', ' ');
  const isLater = total > 0 && pruneBefore !== 'now';
  const when = isLater ? `: objects older than ${time} now, younger ones in a later agt gc` : '';
  const would = `would free about ${showSize(coming)}, and what packing saves${when}\n`;
  const done = disk === null ? '' : describeDisk(disk);
  const told = outcomes.map((outcome): Told => {
    const { session_id: id } = outcome.plan.record;
    return { ...outcome, bytes: bytes.get(id) ?? 0, copy: copies.get(id) };
  });
  const sessions = told.map(outcomeJson);
  const failed = failures.map(({ id, error }) => ({ session_id: id, ...errorJson(error) }));
  return {
    json: dryRun ? { sessions, bytes: coming, young: unreachable.young } : { sessions, errors: failed, disk },
    text: advisedIn(
      context.cwd,
      [
        ...told.map((one) => describeOutcome(one, dryRun)),
        dryRun ? (isNothing ? NOTHING_BUT_PACKS : would) : done,
      ].join(''),
    ),
    notes: lines([
      ...[...stays].map(([id, reason]) => `note: ${id} stays: ${reason}`),
      unreachable.young > 0 && `note: ${tooYoung(unreachable.young)}`,
    ]),
    errors,
    failed: damaged.length > 0,
  };
}

async function preview(repository: Repository, plan: SessionPlan): Promise<SessionOutcome> {
  const isDrop = plan.action === 'drop' && plan.refused === undefined;
  return { plan, work: isDrop ? await workOf(new Session(repository, plan.record)) : undefined };
}

const NOTHING_BUT_PACKS = 'nothing to delete; packing objects anew may free space all the same\n';

const VERBS: Readonly<Record<SessionPlan['action'], readonly [past: string, plain: string]>> = {
  drop: ['deleted', 'delete'],
  reduce: ['kept the labelled ones, deleted', 'keep the labelled ones, delete'],
  thin: ['thinned out, deleted', 'thin out, delete'],
};

type Told = SessionOutcome & { readonly bytes: number; readonly copy: Share | undefined };

function describeOutcome({ plan, work, bytes, copy }: Told, isDryRun: boolean): string {
  const { record, chain, going, action } = plan;
  const id = record.session_id;
  if (plan.refused !== undefined) return `${id}: skipped: ${plan.refused}\n`;
  const done = `${verb(isDryRun, ...VERBS[action])} ${going} of ${plural(chain.snapshots.length, 'snapshot')}`;
  const branch = work && `${shortBranch(work.ref)} (${shortOid(work.commit)})`;
  const fate = work?.stays
    ? `${verb(isDryRun, 'kept', 'keep')} ${branch}, which has commits that are not merged, or is checked out`
    : `${verb(isDryRun, 'deleted', 'delete')} ${branch}: your branches have its commits`;
  return lines([
    `${id}: ${done} (${showSize(bytes)})`,
    work !== undefined && `${id}: ${fate}`,
    // Another session on the remote may have the same id.
    action === 'drop' &&
      copy &&
      `${id}: ${copy.remote} has a copy: agt session pull ${copy.share} ${copy.remote} --take`,
  ]);
}

/** Part of the object store. */
const WORTH_MENTIONING = 1 / 100;

/** Names in a line. */
const LISTED = 3;

const tooYoung = (bytes: number) =>
  `${showSize(bytes)} is unreachable but still too young; to delete it now: agt gc --prune=now`;

function describeDisk({ before, after, young, left, garbage_removed, garbage_left }: PruneResult): string {
  const inPacks = `${showSize(left)} is unreachable, in packs that are not worth rewriting yet`;
  const gone = `removed what a killed git had left: ${describeGarbage(garbage_removed)}`;
  const stays = `left, because git may be writing it: ${describeGarbage(garbage_left)}; if none does: agt gc --prune=now`;
  return lines([
    garbage_removed.length > 0 && gone,
    garbage_left.length > 0 && stays,
    `freed ${showSize(Math.max(0, before - after))}; the object store takes ${showSize(after)}`,
    young > 0 && tooYoung(young),
    left > after * WORTH_MENTIONING && inPacks,
  ]);
}

function describeGarbage(files: readonly GarbageFile[]): string {
  const paths = files.map(({ path }) => path);
  return `${listSome(paths, LISTED)} (${showSize(files.reduce((sum, { bytes }) => sum + bytes, 0))})`;
}

function outcomeJson({ plan, work, bytes, copy }: Told) {
  return {
    session_id: plan.record.session_id,
    action: plan.action,
    snapshots: plan.chain.snapshots.length,
    going: plan.going,
    bytes,
    work_branch_kept: work?.stays ? shortBranch(work.ref) : null,
    remote: copy?.remote ?? null,
    refused: plan.refused ?? null,
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
  const text = outcomes.map((outcome) => describeFolder(outcome, args.dryRun)).join('');
  return {
    json: { folders: outcomes.map(folderJson) },
    text: text === '' && isDue ? 'nothing to delete\n' : text,
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
  if (plan === undefined)
    return freed === 0 ? '' : `${name}: ${verb(isDryRun, 'freed', 'free')} ${showSize(freed)}\n`;
  if (plan.refused !== undefined) return `${name}: skipped: ${plan.refused}\n`;
  const snapshots = `${plan.going} of ${plural(plan.chain.snapshots.length, 'snapshot')}`;
  return `${name}: ${verb(isDryRun, 'deleted', 'delete')} ${snapshots} (${showSize(freed)})\n`;
}
