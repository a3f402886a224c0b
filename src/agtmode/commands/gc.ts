import { showSize } from '../../config/values.ts';
import { EXIT, formatError } from '../../errors.ts';
import { shortBranch } from '../../git/files/refnames.ts';
import {
  applyRetention,
  type Failure,
  type SessionOutcome,
  worstExitCode,
} from '../../maintenance/retention/gc.ts';
import { obstacle, planRetention, type SessionPlan } from '../../maintenance/retention/plan.ts';
import { expiryTime, type Reclaimed, reclaim } from '../../maintenance/retention/reclaim.ts';
import type { Repository } from '../../repository/repository.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { json, plural } from '../output/format.ts';

export const gc = defineCommand({
  usage: 'gc',
  group: 'maintenance',
  summary: 'delete old snapshots and free their disk space',
  description:
    'Delete the snapshots of sessions that were removed more than agt.retention ago, except snapshots that a person ' +
    'labelled. With --thin, thin out active sessions as well: keep every snapshot of the last day, the last one of each ' +
    'hour of the last week, the last one of each day before that, and every labelled one. Thinning gives new commit ids ' +
    'to the snapshots after the first deleted one. Then delete unreachable objects that are old enough, and combine ' +
    'small packs.',
  options: {
    thin: { type: 'boolean', default: false, describe: 'thin out the snapshots of active sessions as well' },
    prune: {
      type: 'string',
      describe:
        'delete unreachable objects older than this: a time, now or never (default: gc.pruneExpire, else two weeks)',
    },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt gc --thin --dry-run', 'show how much would be freed'],
    ['agt gc', 'clean up, for example from cron every night'],
  ],
  run: async (args, context) => {
    const repository = await context.repository();
    const expire = await expiryTime(repository.git, args.prune);
    const request = { thin: args.thin, now: context.now() };
    const planned = await planRetention(repository, request);
    for (const problem of planned.damaged) context.err(`error: ${problem}\n`);
    if (args['dry-run']) {
      const refusals = new Map<string, string | undefined>();
      for (const plan of planned.plans)
        refusals.set(plan.record.session_id, await obstacle(repository, plan));
      const report = planned.plans.map((plan) => ({ plan, refused: refusals.get(plan.record.session_id) }));
      if (args.json) context.out(json({ ...sessionsJson(report, planned.bytes), bytes: planned.total }));
      else printPlans(context, report, planned.bytes, planned.total);
      return planned.damaged.length > 0 ? EXIT.failed : EXIT.done;
    }
    const { outcomes, failures } = await applyRetention(repository, request);
    const disk = await attemptReclaim(repository, expire, failures);
    if (args.json) {
      const errors = failures.map(({ id, error }) => ({ session_id: id, error: (error as Error).message }));
      context.out(json({ ...sessionsJson(outcomes, planned.bytes), errors, disk: disk.reclaimed ?? null }));
    } else {
      for (const outcome of outcomes) context.out(describeOutcome(outcome, planned.bytes, true));
      if (disk.reclaimed !== undefined) context.out(describeDisk(disk.reclaimed));
    }
    for (const { error } of disk.failures) context.err(formatError(error, false));
    const damaged = planned.damaged.length > 0 ? EXIT.failed : EXIT.done;
    return damaged || worstExitCode(disk.failures);
  },
});

async function attemptReclaim(
  repository: Repository,
  expire: string,
  failures: readonly Failure[],
): Promise<{ reclaimed: Reclaimed | undefined; failures: readonly Failure[] }> {
  try {
    return { reclaimed: await reclaim(repository, expire), failures };
  } catch (error) {
    return { reclaimed: undefined, failures: [...failures, { id: '', error }] };
  }
}

function printPlans(
  context: Context,
  report: readonly SessionOutcome[],
  bytes: ReadonlyMap<string, number>,
  total: number,
): void {
  for (const outcome of report) context.out(describeOutcome(outcome, bytes, false));
  context.out(report.length === 0 ? 'nothing to delete\n' : `would free ${showSize(total)}\n`);
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
  const cost = showSize(bytes.get(id) ?? 0);
  const lines = [`${id}: ${verb} ${going} of ${plural(chain.snapshots.length, 'snapshot')} (${cost})`];
  if (workBranch !== undefined) {
    lines.push(
      `${id}: kept ${shortBranch(workBranch)}, which has commits that are not merged, or is checked out`,
    );
  }
  return lines.map((line) => `${line}\n`).join('');
}

function describeDisk({ before, after, young, left }: Reclaimed): string {
  const lines = [
    after <= before
      ? `object store: ${showSize(after)}, ${showSize(before - after)} freed`
      : `object store: ${showSize(after)}`,
    ...(young > 0
      ? [`${showSize(young)} is unreachable but still too young; to delete it now: agt gc --prune=now`]
      : []),
    ...(left > after / 100
      ? [`${showSize(left)} is unreachable, in packs that are not worth rewriting yet`]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function sessionsJson(outcomes: readonly SessionOutcome[], bytes: ReadonlyMap<string, number>) {
  return {
    sessions: outcomes.map(({ plan, refused, workBranch }) => ({
      session_id: plan.record.session_id,
      action: plan.action,
      snapshots: plan.chain.snapshots.length,
      going: plan.going,
      bytes: bytes.get(plan.record.session_id) ?? 0,
      ...(workBranch === undefined ? {} : { work_branch_kept: shortBranch(workBranch) }),
      ...(refused === undefined ? {} : { refused }),
    })),
  };
}
