import { showSize } from '../../config/values.ts';
import { EXIT, exitCodeFor, formatError, worstExitCode } from '../../errors.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { applyRetention, type Failure, type SessionOutcome } from '../../maintenance/retention/gc.ts';
import {
  planRetention,
  type RetentionRequest,
  reasonToSkip,
  type SessionPlan,
} from '../../maintenance/retention/plan.ts';
import { expiryTime, type PruneResult, pruneAndRepack } from '../../maintenance/retention/prune.ts';
import type { Repository } from '../../repository/repository.ts';
import { retryAfterChange } from '../../session/retry.ts';
import {
  DRY_RUN_OPTION,
  defineCommand,
  flag,
  JSON_OPTION,
  QUIET_OPTION,
  withValue,
} from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { gcFolders } from '../gc-folders.ts';
import { errorJson, json, plural } from '../output/format.ts';
import { repositoryHere } from '../session-here.ts';

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
  options: {
    thin: flag('thin out the snapshots of active sessions as well'),
    prune: withValue(
      'delete unreachable objects older than this: a time, now or never (default: gc.pruneExpire, else two weeks)',
    ),
    folders: flag(
      'tidy the folders that have snapshots without a session, and no repository (see: agt snapshot)',
    ),
    daily: flag('with --folders: do nothing if that was done today'),
    'dry-run': DRY_RUN_OPTION,
    quiet: QUIET_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt gc --thin --dry-run', 'show how much would be freed'],
    ['agt gc', 'clean up, for example from cron every night'],
  ],
  run: async (args, context) => {
    if (args.folders) return gcFolders(context, args);
    const repository = await repositoryHere(context);
    const pruneBefore = await expiryTime(repository.git, args.prune);
    const request = { thin: args.thin, now: context.now() };
    const planned = await retryAfterChange(() => planRetention(repository, request));
    for (const problem of planned.damaged) context.err(`error: ${problem}\n`);
    const damaged = planned.damaged.length > 0 ? EXIT.failed : EXIT.done;
    if (args['dry-run']) {
      await previewGc(context, repository, planned, args.json);
      return damaged;
    }
    const failed = await runGc(context, repository, { request, planned, pruneBefore, asJson: args.json });
    return damaged || failed;
  },
});

async function previewGc(
  context: Context,
  repository: Repository,
  planned: Awaited<ReturnType<typeof planRetention>>,
  asJson: boolean,
): Promise<void> {
  const outcomes: SessionOutcome[] = [];
  for (const plan of planned.plans) outcomes.push({ plan, refused: await reasonToSkip(repository, plan) });
  if (asJson) {
    context.out(json({ sessions: sessionsJson(outcomes, planned.bytes), bytes: planned.total }));
    return;
  }
  for (const outcome of outcomes) context.out(describeOutcome(outcome, planned.bytes, false));
  context.out(outcomes.length === 0 ? 'nothing to delete\n' : `would free ${showSize(planned.total)}\n`);
}

interface GcRun {
  readonly request: RetentionRequest;
  readonly planned: Awaited<ReturnType<typeof planRetention>>;
  /** In git's words: a time, `now` or `never`. */
  readonly pruneBefore: string;
  readonly asJson: boolean;
}

/** Returns the exit code. */
async function runGc(context: Context, repository: Repository, gcRun: GcRun): Promise<number> {
  const { bytes } = gcRun.planned;
  const { outcomes, failures: sessionFailures } = await applyRetention(repository, gcRun.request);
  const { pruned, failures } = await tryToPrune(repository, gcRun.pruneBefore, sessionFailures);
  if (gcRun.asJson) {
    const errors = sessionFailures.map(({ id, error }) => ({ session_id: id, ...errorJson(error) }));
    context.out(json({ sessions: sessionsJson(outcomes, bytes), errors, disk: pruned ?? null }));
  } else {
    for (const outcome of outcomes) context.out(describeOutcome(outcome, bytes, true));
    if (pruned !== undefined) context.out(describeDisk(pruned));
  }
  for (const { error } of failures) context.err(formatError(error, false));
  return worstExitCode(failures.map(({ error }) => exitCodeFor(error)));
}

/** A failure is added to those of the sessions, and printed after the results. */
async function tryToPrune(
  repository: Repository,
  pruneBefore: string,
  failures: readonly Failure[],
): Promise<{ pruned: PruneResult | undefined; failures: readonly Failure[] }> {
  try {
    return {
      pruned: await retryAfterChange(() => pruneAndRepack(repository, pruneBefore)),
      failures,
    };
  } catch (error) {
    return { pruned: undefined, failures: [...failures, { id: '', error }] };
  }
}

const VERBS: Readonly<Record<SessionPlan['action'], readonly [past: string, future: string]>> = {
  drop: ['deleted', 'would delete'],
  reduce: ['kept the labelled ones, deleted', 'would keep the labelled ones, delete'],
  thin: ['thinned out, deleted', 'would thin out, delete'],
};

function describeOutcome(
  { plan, refused, workBranch }: SessionOutcome,
  bytes: ReadonlyMap<string, number>,
  done: boolean,
): string {
  const { record, chain, going, action } = plan;
  const id = record.session_id;
  if (refused !== undefined) return `${id}: skipped: ${refused}\n`;
  const verb = VERBS[action][done ? 0 : 1];
  const size = showSize(bytes.get(id) ?? 0);
  const lines = [`${id}: ${verb} ${going} of ${plural(chain.snapshots.length, 'snapshot')} (${size})`];
  if (workBranch !== undefined) {
    lines.push(
      `${id}: kept ${shortBranch(workBranch)}, which has commits that are not merged, or is checked out`,
    );
  }
  return lines.map((line) => `${line}\n`).join('');
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

function sessionsJson(outcomes: readonly SessionOutcome[], bytes: ReadonlyMap<string, number>) {
  return outcomes.map(({ plan, refused, workBranch }) => ({
    session_id: plan.record.session_id,
    action: plan.action,
    snapshots: plan.chain.snapshots.length,
    going: plan.going,
    bytes: bytes.get(plan.record.session_id) ?? 0,
    ...(workBranch === undefined ? {} : { work_branch_kept: shortBranch(workBranch) }),
    ...(refused === undefined ? {} : { refused }),
  }));
}
