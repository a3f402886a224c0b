/** agt session unaccept: takes an acceptance back. */
import { stashRef } from '../../../filter/agent-refs.ts';
import { shortBranch, shortOid } from '../../../git/files/ref-files.ts';
import { gitText, resolveObject } from '../../../git/run/git.ts';
import { takeOut } from '../../../landing/taken-back.ts';
import { unacceptSession } from '../../../landing/unaccept.ts';
import { landingsOf } from '../../../session/landings.ts';
import { type Landed, listRecords } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { findFates, withFates } from '../../../survey/landed.ts';
import { readRefs } from '../../../survey/refs.ts';
import { defineSessionCommand, option } from '../../command-line/command.ts';
import { lines, showPath } from '../../output/format.ts';
import { interruptible } from '../../output/interrupted.ts';
import { fileJson, summaryOf } from './accept.ts';

export const sessionUnaccept = defineSessionCommand({
  name: 'session unaccept',
  several: true,
  only: { name: 'accepted sessions', fits: ({ landed }) => landed !== undefined },
  summary: 'take back agt session accept',
  description:
    'Move the branch back to the commit before the acceptance, let the worktree follow, and bring the session back, ' +
    'unless another repository goes on with it. If ' +
    'the branch has newer commits, or a remote has the commit already, change nothing and print the git command that ' +
    'undoes it by a new commit. Of several sessions, the one that was accepted last goes first.',
  options: option.shared('dry-run', 'quiet', 'json'),
  examples: [['agt session unaccept fix-login', 'the branch and the files of the session are as before']],
  order: async (ids, context) => {
    const { records } = listRecords(await context.repository());
    const times = new Map(records.map(({ session_id: id, landed }) => [id as string, landed?.at ?? '']));
    const at = (id: string) => Date.parse(times.get(id) ?? '') || 0;
    return ids.toSorted((a, b) => at(b) - at(a));
  },
  check: () => ({ tips: new Map<string, string>() }),
  run: async ({ dryRun }, context, session, { tips }) => {
    const request = { dryRun, tips, now: context.now() };
    const result = await interruptible(context, session, unacceptSession, request);
    const { record, onto, commit, tip, worktree, changes, shown, restored, holders, branches } = result;
    const { session_id: id } = record;
    const others = branches.filter((branch) => holders.every((one) => one.branch !== branch));
    const [took, is] = dryRun ? ['would take', 'would be'] : ['took', 'is'];
    const log = ['log', '-1', '--no-show-signature', '--abbrev=10', '--format=%h %s'];
    const titled = async (oid: string) => showPath(await gitText(session.git, [...log, oid, '--']));
    const before = standingOf(session, dryRun ? record.landed?.before : record.landed);
    const range = ['rev-list', '--count', '--first-parent', `${tip}..${commit}`, '--'];
    const more = Number(await gitText(session.git, range)) - 1;
    const shared = holders.map(({ record: one, branch }) => {
      const where = branch === undefined ? '' : `, on its branch ${branch}`;
      return `${one.session_id} has it, too${where}; take it out there: ${takeOut(one, onto, commit)}`;
    });
    const alsoOn = others.map((branch) => `branch ${branch} has it, too: ${shortOid(commit)}`);
    const warnings = [...result.warnings, ...shared, ...alsoOn].map((one) => `warning: ${one}`);
    return {
      json: {
        session_id: id,
        state: record.state,
        onto: shortBranch(onto),
        undone: commit,
        commit: tip,
        files: changes.map(fileJson),
        worktree: worktree ?? null,
        sandbox_restored: restored,
        also_in: holders.map((one) => one.record.session_id),
        also_on: branches,
        dry_run: dryRun,
      },
      text: lines([
        `${took} back the acceptance of ${id}: ${summaryOf(shown)}`,
        `commit   ${await titled(commit)}${more > 0 ? `, and ${more} before it` : ''}`,
        `branch   ${shortBranch(onto)} ${is} back at ${shortOid(tip)}`,
        before && `earlier  ${await titled(before.commit)}: accepted before, and still on ${before.branch}`,
        restored && `session  ${id} ${is} back in ${record.sandbox}`,
        record.away && `session  ${id} stays away`,
      ]),
      warnings: lines(warnings) + (restored ? await stillSetAside(session) : ''),
    };
  },
});

/** The newest of these acceptances of the session that its branch has, in any form. */
function standingOf({ repository, record }: Session, landed: Landed | undefined) {
  if (landed === undefined) return undefined;
  const all = landingsOf(landed).toReversed();
  const refs = readRefs(repository, [], [...new Set(all.map(({ onto }) => onto))]);
  const [standing] = withFates(all, findFates(repository, [record], refs)).filter(
    ([{ onto }, { isLost, isElsewhere, revertedBy }]) =>
      refs.commits.has(onto) && !isLost && !isElsewhere && revertedBy === undefined,
  );
  if (standing === undefined) return undefined;
  const [{ commit, onto }, { nowAs = commit }] = standing;
  return { commit: nowAs, branch: shortBranch(onto) };
}

export async function stillSetAside({ git, id }: Session): Promise<string> {
  const stash = stashRef(id);
  const isSetAside = (await resolveObject(git, stash)) !== undefined;
  return isSetAside ? `warning: ${stash} still has work of yours; see: agt doctor\n` : '';
}
