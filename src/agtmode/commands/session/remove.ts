import { existsSync } from 'node:fs';
import { AgtError, usageError } from '../../../errors.ts';
import { tipRef } from '../../../filter/agent-refs.ts';
import { isActive } from '../../../filter/session-file.ts';
import { shortBranch, shortOid } from '../../../git/files/ref-files.ts';
import { findObject } from '../../../git/objects/object-reader.ts';
import { planRemoval, type RemovalPlan, removeSession, requireRemovable } from '../../../lifecycle/remove.ts';
import { undoCreation } from '../../../lifecycle/undo-creation.ts';
import { lostWithBranches, unsavedWork } from '../../../lifecycle/unsaved-work.ts';
import type { Repository } from '../../../repository/repository.ts';
import { bringsBack, wayBack } from '../../../session/operation.ts';
import { listRecords, readRecord, type SessionRecord } from '../../../session/record.ts';
import { Session } from '../../../session/session.ts';
import { isEnded } from '../../../session/state.ts';
import { surveySessions } from '../../../survey/status.ts';
import { askYesOrNo } from '../../ask.ts';
import { defineSessionCommand, option } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { agentAtWork, besideTheEnd, describeDeleted } from '../../output/beside-the-end.ts';
import { lines, verb } from '../../output/format.ts';
import { interruptible } from '../../output/interrupted.ts';
import { shownState } from '../../output/session.ts';

export const sessionRemove = defineSessionCommand({
  name: 'session remove',
  several: true,
  summary: 'delete the folder of a session, but keep its snapshots',
  description:
    'Autocommit the session, then delete its folder. The work branch and the shadow branch stay, so agt undo can ' +
    'bring the session back; agt gc deletes its snapshots after agt.retention. With --delete-branch, delete the ' +
    'branches as well. If that would lose work that is neither exported nor merged, or a file that only its snapshots ' +
    'have, ask first; without a terminal, require --force. With --merged, remove each session that agt list calls merged or accepted: your branch, or that branch at a remote (merged on origin/main), has all ' +
    'of its work, or the branch that --onto named (accepted on BRANCH). A session that runs, or has a file or a commit ' +
    'that this branch lacks, stays.',
  options: {
    merged: option.flag('every session whose work is merged, in place of ids'),
    'delete-branch': option.flag('delete the branches and all snapshots as well'),
    force: option.flag('also while a command of agt run or exec works there, and even if work is lost', 'f'),
    ...option.shared('dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt session remove fix-login', 'delete the folder, keep the snapshots'],
    ['agt session remove fix-login --delete-branch', 'delete everything'],
    ['agt remove --merged -n', 'list the sessions whose work is merged'],
  ],
  choose: async ({ merged, force }, context) => {
    if (!merged) return undefined;
    if (force)
      throw usageError('--merged removes no session by force', 'leave out --force, or name the sessions');
    return mergedSessions(await context.repository());
  },
  check: () => ({ going: [] as SessionRecord[] }),
  run: async (args, context, session, { going }) => {
    const { repository, id } = session;
    const { dryRun, deleteBranch, force } = args;
    if (session.record.intent?.operation === 'create' && !dryRun) {
      const report = await removeHalfMade(context, session, deleteBranch);
      if (report !== undefined) return report;
    }
    const record = readRecord(repository, id) ?? session.record;
    const present = session.with(record);
    const plan = await planRemoval(present, deleteBranch);
    if (isEnded(record) && !deleteBranch) {
      const more = `delete its snapshots as well: agt session remove ${id} --delete-branch`;
      if (record.state === 'removed' && !existsSync(present.folder))
        return { json: planJson(plan, dryRun), text: `${id}: removed before; to ${more}\n` };
      throw new AgtError(`session "${id}" is already ${record.state}`, { hints: [more] });
    }
    const isMade = record.intent?.operation !== 'create';
    const unsaved = deleteBranch && isMade ? await lostWithBranches(present, going) : [];
    const back = await besideTheEnd(present, { dryRun, deleteBranch, outcome: 'removed' });
    const options = { force, deleteBranch, now: context.now() };
    const atWork = force ? [] : agentAtWork(present, options.now);
    if (unsaved.length > 0 && !force) await confirm(context, record, unsaved, dryRun);
    const deleted = dryRun
      ? await requireRemovable(present, options)
      : await interruptible(context, session, () => removeSession(session, options));
    if (deleteBranch) going.push(record);
    const text = async () => {
      const tip = await findObject(repository.git, tipRef(id));
      return (
        describePlan(plan, dryRun, { back, isEmpty: !dryRun && tip === record.from_commit }) +
        describeDeleted(deleted, dryRun)
      );
    };
    const warnings = lines(atWork.map((one) => `warning: ${one}`));
    return { json: { ...planJson(plan, dryRun), unsaved, ...deleted }, warnings, text };
  },
});

/** The note names each one whose work is merged, but which stays. */
async function mergedSessions(repository: Repository) {
  const active = listRecords(repository).records.filter(isActive);
  const views = await surveySessions(repository, active, { counts: false });
  const merged = views.filter((view) => view.merged && view.merge !== 'conflict' && view.sandboxPresent);
  const stays = await Array.fromAsync(merged, async (view) => {
    const { record, running } = view;
    if (running === true || record.intent !== undefined) return shownState(view);
    return (await unsavedWork(new Session(repository, record), undefined, view.cancelled)).join(', ');
  });
  const ids = merged.flatMap(({ record }, i) => (stays[i] === '' ? record.session_id : []));
  const kept = merged.flatMap(({ record }, i) =>
    stays[i] === '' ? [] : `note: ${record.session_id} stays: ${stays[i]}\n`,
  );
  const none = merged.length === 0 ? 'note: no session has all of its work merged; see: agt list\n' : '';
  return { ids, note: kept.join('') + none, by: '--merged' };
}

/** Removes a half-made session. Undefined: somebody worked in it, and its branches are to go as well. */
async function removeHalfMade(context: Context, session: Session, deleteBranch: boolean) {
  const plan = await planRemoval(session, true);
  const kept = await interruptible(context, session, undoCreation);
  if (kept !== undefined && deleteBranch) return undefined;
  const refs = kept === undefined ? plan.refs : [];
  const text = kept === undefined ? describePlan(plan, false, { isEmpty: true }) : `${kept}\n`;
  return { json: planJson({ ...plan, refs }, false), text };
}

function planJson({ folder, refs, record }: RemovalPlan, dryRun: boolean) {
  return {
    session_id: record.session_id,
    dry_run: dryRun,
    folder: folder ?? null,
    deleted_refs: refs,
    snapshots_kept: refs.length === 0,
    ...{ unsaved: [], ignored: [], uncaptured: [] },
  };
}

/** `isEmpty`: no snapshots stay. */
function describePlan(
  { folder, refs, record }: RemovalPlan,
  dryRun: boolean,
  { isEmpty, back }: { readonly isEmpty: boolean; readonly back?: string | undefined },
): string {
  const { session_id: id, checkout, user_branch: home = '' } = record;
  const end =
    checkout === undefined
      ? `${verb(dryRun, 'removed', 'remove')} ${folder}`
      : `${verb(dryRun, 'returned', 'return')} ${checkout} to ${shortBranch(home)}`;
  const kept = `${verb(dryRun, 'kept', 'keep')} its snapshots on ${shortBranch(record.branch)}`;
  const last = isEmpty ? `removed ${id}, which had no snapshots` : `${kept}; ${bringsBack(record)}`;
  const branches = refs.filter(({ ref }) => ref.startsWith('refs/heads/'));
  const deleted = `${verb(dryRun, 'deleted', 'delete')} branch`;
  return lines([
    folder !== undefined && end,
    back,
    ...branches.map(({ ref, commit }) => `${deleted} ${shortBranch(ref)} (was ${shortOid(commit)})`),
    refs.length === 0 && last,
  ]);
}

/** @throws AgtError unless the user agrees to lose work. */
async function confirm(context: Context, record: SessionRecord, unsaved: readonly string[], dryRun: boolean) {
  const { session_id: id } = record;
  const reason = `session "${id}" has ${unsaved.join(', ')}`;
  if (!context.interactive || dryRun) {
    const ways = isEnded(record) ? wayBack(record) : ['keep the branches: leave out --delete-branch'];
    const isMergeable = !unsaved.every((one) => /labelled snapshots?$/.test(one));
    const merge = isMergeable && !isEnded(record) ? ['export or merge the work first'] : [];
    const others = ways.map((way) => (merge.length > 0 ? `or ${way}` : way));
    const hints = [...merge, ...others, 'or lose the work: add --force'];
    throw new AgtError(`${reason}; --delete-branch would lose this work`, { hints });
  }
  const question = `${reason}. Delete the branches anyway?`;
  if (!(await askYesOrNo(context, question, 'interrupted; nothing was removed')))
    throw new AgtError('aborted; nothing was removed');
}
