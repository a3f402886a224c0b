import { showSize } from '../../config/keys.ts';
import { EXIT, formatError } from '../../errors.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
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
import { json, plural } from '../output/print.ts';
import type { Program } from '../program.ts';

export const gc = defineCommand({
  usage: 'gc',
  group: 'states',
  summary: 'drop states that are past their time, and give back their disk',
  description:
    'Drops the states of sessions that were removed longer ago than agt.retention, but for snapshots that were given a ' +
    'label by hand. With --thin also thins the states of active sessions: everything of the last day stays, the last ' +
    'state of each hour of the last week, the last of each day before, and every labelled snapshot; the states after the ' +
    'first one that goes get other object names. Then removes objects that nothing refers to, once they are older than ' +
    "git's time of grace, and joins small packs.",
  options: {
    thin: { type: 'boolean', default: false, describe: 'also thin the states of active sessions' },
    prune: {
      type: 'string',
      describe:
        "remove unreachable objects older than this: a time, now, never; by default git's gc.pruneExpire, two weeks",
    },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt gc --thin --dry-run', 'how much would go'],
    ['agt gc', 'from cron, every night'],
  ],
  run: async (args, program) => {
    const repository = await program.repository();
    const expire = await expiryTime(repository.git, args.prune);
    const request = { thin: args.thin, now: program.now() };
    const planned = await planRetention(repository, request);
    for (const problem of planned.damaged) program.err(`error: ${problem}\n`);
    if (args['dry-run']) {
      const refusals = new Map<string, string | undefined>();
      for (const plan of planned.plans)
        refusals.set(plan.record.session_id, await obstacle(repository, plan));
      const report = planned.plans.map((plan) => ({ plan, refused: refusals.get(plan.record.session_id) }));
      if (args.json) program.out(json({ ...sessionsJson(report, planned.bytes), bytes: planned.total }));
      else printPlans(program, report, planned.bytes, planned.total);
      return planned.damaged.length > 0 ? EXIT.failed : EXIT.done;
    }
    const { outcomes, failures } = await applyRetention(repository, request);
    const disk = await attemptReclaim(repository, expire, failures);
    if (args.json) {
      const errors = failures.map(({ id, error }) => ({ session_id: id, error: (error as Error).message }));
      program.out(json({ ...sessionsJson(outcomes, planned.bytes), errors, disk: disk.reclaimed ?? null }));
    } else {
      for (const outcome of outcomes) program.out(describeOutcome(outcome, planned.bytes, true));
      if (disk.reclaimed !== undefined) program.out(describeDisk(disk.reclaimed));
    }
    for (const { error } of disk.failures) program.err(formatError(error, false));
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
  program: Program,
  report: readonly SessionOutcome[],
  bytes: ReadonlyMap<string, number>,
  total: number,
): void {
  for (const outcome of report) program.out(describeOutcome(outcome, bytes, false));
  program.out(report.length === 0 ? 'no states would go\n' : `${showSize(total)} would go\n`);
}

const VERBS: Readonly<Record<SessionPlan['action'], readonly [past: string, future: string]>> = {
  drop: ['dropped', 'would drop'],
  reduce: ['kept the labelled snapshots of', 'would keep the labelled snapshots of'],
  thin: ['thinned', 'would thin'],
};

function describeOutcome(
  { plan, refused, workBranch }: SessionOutcome,
  bytes: ReadonlyMap<string, number>,
  done: boolean,
): string {
  const { record, chain, going, action } = plan;
  const id = record.session_id;
  if (refused !== undefined) return `${id}: left as it is: ${refused}\n`;
  const verb = VERBS[action][done ? 0 : 1];
  const cost = showSize(bytes.get(id) ?? 0);
  const lines = [`${verb} ${id}: ${going} of ${plural(chain.snapshots.length, 'snapshot')}, ${cost}`];
  if (workBranch !== undefined) {
    lines.push(
      `  ${shortBranch(workBranch)} stays: it has commits that no branch of yours has, or is checked out`,
    );
  }
  return lines.map((line) => `${line}\n`).join('');
}

function describeDisk({ before, after, young, left }: Reclaimed): string {
  const lines = [
    after <= before
      ? `the object store takes ${showSize(after)}, ${showSize(before - after)} less`
      : `the object store takes ${showSize(after)}`,
    ...(young > 0 ? [`${showSize(young)} more can go once it is old enough (now: --prune=now)`] : []),
    ...(left > after / 100
      ? [`${showSize(left)} stays in packs of which too little would go to write them anew`]
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
