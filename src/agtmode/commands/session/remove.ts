import { existsSync } from 'node:fs';
import { AgtError, listSome } from '../../../errors.ts';
import { tipRef } from '../../../filter/agent-refs.ts';
import { shortBranch, shortOid } from '../../../git/files/ref-files.ts';
import { findObject } from '../../../git/objects/object-reader.ts';
import {
  type Deleted,
  planRemoval,
  type RemovalPlan,
  removeSession,
  requireRemovable,
} from '../../../lifecycle/remove.ts';
import { undoCreation } from '../../../lifecycle/undo-creation.ts';
import { unsavedWork } from '../../../lifecycle/unsaved-work.ts';
import { readRecord, type SessionRecord, sessionFolder } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { isEnded } from '../../../session/state.ts';
import { askYesOrNo } from '../../ask.ts';
import { defineSessionCommand, flag, shared } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { showPath, verb } from '../../output/format.ts';
import { interruptible } from '../../output/interrupted.ts';

export const sessionRemove = defineSessionCommand({
  name: 'session remove',
  group: 'sessions',
  summary: 'delete the folder of a session, but keep its snapshots',
  description:
    'Autocommit the session, then delete its folder. The work branch and the shadow branch stay, so agt session restore ' +
    'can bring the session back; agt gc deletes its snapshots after agt.retention. With --delete-branch, delete the ' +
    'branches as well. If that would lose work that is neither exported nor merged, ask first; without a terminal, ' +
    'require --force.',
  options: {
    'delete-branch': flag('delete the branches and all snapshots as well'),
    force: { ...flag('also while a command of agt run works there, and even if work is lost'), alias: 'f' },
    ...shared('dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt session remove fix-login', 'delete the folder, keep the snapshots'],
    ['agt session remove fix-login --delete-branch', 'delete everything'],
  ],
  run: async (args, context, session) => {
    const { repository, record: found } = session;
    const dryRun = args.dryRun;
    if (found.intent?.operation === 'create' && !dryRun) {
      const report = await removeHalfMade(context, session, args.deleteBranch);
      if (report !== undefined) return report;
    }
    const record = readRecord(repository, found.session_id) ?? found;
    if (record.state === 'removed' && !args.deleteBranch && !existsSync(sessionFolder(record))) {
      const plan = await planRemoval(session.with(record), false);
      const more = `to delete its snapshots as well: agt session remove ${record.session_id} --delete-branch`;
      return { json: planJson(plan, dryRun), text: `${record.session_id}: removed before; ${more}\n` };
    }
    if (isEnded(record) && !args.deleteBranch) {
      throw new AgtError(`session "${record.session_id}" is already ${record.state}`, {
        hints: [`delete its snapshots as well: agt session remove ${record.session_id} --delete-branch`],
      });
    }
    const plan = await planRemoval(session.with(record), args.deleteBranch);
    const unsaved =
      args.deleteBranch && record.intent?.operation !== 'create'
        ? await unsavedWork(session.with(record))
        : [];
    let deleted: Deleted | undefined;
    const options = { force: args.force, deleteBranch: args.deleteBranch, now: context.now() };
    if (dryRun) await requireRemovable(session.with(record), options);
    else {
      if (unsaved.length > 0 && !args.force) await confirm(context, record, unsaved);
      deleted = await interruptible(context, session, () => removeSession(session, options));
    }
    const text = async () => {
      const tip = await findObject(repository.git, tipRef(record.session_id));
      return describePlan(plan, dryRun, !dryRun && tip === record.from_commit) + describeDeleted(deleted);
    };
    return { json: { ...planJson(plan, dryRun), unsaved, ...deleted }, text };
  },
});

/**
 * A session that agt did not finish creating. Undefined: somebody worked in it, its branches stay, and they are to go
 * too.
 */
async function removeHalfMade(context: Context, session: Session, deleteBranch: boolean) {
  const plan = await planRemoval(session, true);
  const kept = await interruptible(context, session, undoCreation);
  if (kept !== undefined && deleteBranch) return undefined;
  const refs = kept === undefined ? plan.refs : [];
  const text = kept === undefined ? describePlan(plan, false, true) : `${kept}\n`;
  return { json: planJson({ ...plan, refs }, false), text };
}

const NOTHING: Deleted = { ignored: [], uncaptured: [] };

function planJson({ folder, refs, record }: RemovalPlan, dryRun: boolean) {
  return {
    session_id: record.session_id,
    dry_run: dryRun,
    folder: folder ?? null,
    deleted_refs: refs,
    snapshots_kept: refs.length === 0,
    unsaved: [],
    ...NOTHING,
  };
}

/** `isEmpty`: no snapshots stay. */
function describePlan({ folder, refs, record }: RemovalPlan, dryRun: boolean, isEmpty: boolean): string {
  const { session_id: id, checkout, user_branch: home = '' } = record;
  const end =
    checkout === undefined
      ? `${verb(dryRun, 'removed', 'remove')} ${folder}`
      : `${verb(dryRun, 'returned', 'return')} ${checkout} to ${shortBranch(home)}`;
  const kept = `${verb(dryRun, 'kept', 'keep')} its snapshots on ${shortBranch(record.branch)}`;
  const lines = [
    ...(folder === undefined ? [] : [end]),
    ...refs
      .filter(({ ref }) => ref.startsWith('refs/heads/'))
      .map(({ ref, commit }) => {
        return `${verb(dryRun, 'deleted', 'delete')} branch ${shortBranch(ref)} (was ${shortOid(commit)})`;
      }),
  ];
  if (refs.length === 0)
    lines.push(isEmpty ? `removed ${id}, which had no snapshots` : `${kept}; agt undo ${id} brings it back`);
  return `${lines.join('\n')}\n`;
}

function describeDeleted({ ignored, uncaptured } = NOTHING): string {
  const line = (why: string, paths: readonly string[]) =>
    paths.length === 0
      ? ''
      : `deleted with it, in no snapshot${why}: ${listSome(paths.map(showPath), MOST_LISTED)}\n`;
  const others = uncaptured.map(({ path }) => path);
  return line(' because of .agtignore', ignored) + line('', others);
}

const MOST_LISTED = 10;

/** @throws AgtError unless the user agrees to lose work. */
async function confirm(context: Context, { session_id: id }: SessionRecord, unsaved: readonly string[]) {
  const reason = `session "${id}" has ${unsaved.join(' and ')}`;
  if (!context.interactive) {
    throw new AgtError(`${reason}; --delete-branch would lose this work`, {
      hints: [
        'export or merge the work first',
        'or keep the branches: leave out --delete-branch',
        'or lose the work: add --force',
      ],
    });
  }
  if (
    !(await askYesOrNo(context, `${reason}. Delete the branches anyway?`, 'interrupted; nothing was removed'))
  )
    throw new AgtError('aborted; nothing was removed');
}
