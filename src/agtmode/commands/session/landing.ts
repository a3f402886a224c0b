/** agt session sync, reject and export: the ways between a session and your branches beside accept. */
import { AgtError, listSome, plural } from '../../../errors.ts';
import { HEADS, shortBranch, shortOid } from '../../../git/files/ref-files.ts';
import { exportSession } from '../../../landing/export.ts';
import { waysOff } from '../../../landing/off-branch.ts';
import { draftPullRequest, openPullRequest } from '../../../landing/pull-request.ts';
import { isUpToDate, type SyncResult, syncSession } from '../../../landing/sync.ts';
import { solveFirst, syncWith } from '../../../landing/target.ts';
import { changeReason, planRemoval, removeSession, requireRemovable } from '../../../lifecycle/remove.ts';
import { warnOfRejected } from '../../../review/act.ts';
import { wayBack } from '../../../session/operation.ts';
import { readRecord } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { isEnded } from '../../../session/state.ts';
import { landedSource } from '../../../survey/merged.ts';
import { defineSessionCommand, option } from '../../command-line/command.ts';
import { agentAtWork, besideTheEnd, describeDeleted } from '../../output/beside-the-end.ts';
import { lines, orNull, verb } from '../../output/format.ts';
import { interruptible } from '../../output/interrupted.ts';
import { recordJson } from '../../output/session.ts';
import { indented, LISTED } from './accept.ts';
import { stillSetAside } from './unaccept.ts';

export const sessionSync = defineSessionCommand({
  name: 'session sync',
  several: true,
  summary: 'bring your branch into a sandbox',
  description:
    'Autocommit the session, then let git merge the user branch into the branch of the sandbox, or rebase it. Conflicts ' +
    'stay in the sandbox, for you or the agent to solve; agt undo goes back to the snapshot before. --rebase ' +
    'leaves out commits that the session began with and that you have dropped from your branch since. Exit with 1 if ' +
    'there are conflicts; --dry-run finds them without touching the sandbox. If the user branch is gone, as after git ' +
    'branch -m, the branch of --from takes its place.',
  options: {
    rebase: option.flag('rebase the commits of the sandbox instead of merging'),
    from: option.named('branch', 'the branch to bring in (default: the user branch)'),
    ...option.shared('wait', 'dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt sync fix-login', 'merge your branch into the sandbox'],
    ['agt sync fix-login --rebase', "rebase the agent's commits onto your branch"],
  ],
  run: async (args, context, session) => {
    const request = { ...args, now: context.now() };
    const result = await interruptible(context, session, syncSession, request);
    const { branch, commits, own, reverting, dropped, head, conflicts, operation } = result;
    const { dryRun } = args;
    const json = {
      session_id: session.id,
      branch,
      commits,
      own_commits: own.length,
      ...orNull({ reverted_by: reverting }),
      dropped_commits: dropped.commits,
      head_commit: head,
      operation,
      conflicts,
      dry_run: dryRun,
    };
    if (conflicts.length > 0)
      return { json, notes: await describeConflicts(session, result, dryRun), failed: true };
    const done = describeSync(result, dryRun) + describeUserBranch(session, result, dryRun);
    return { json, text: done + describeDropped(result, dryRun) + describeRevert(result, dryRun) };
  },
});

function describeSync(result: SyncResult, dryRun: boolean): string {
  const { record, branch, commits, own, ahead, head, operation } = result;
  const { session_id: id } = record;
  if (isUpToDate(result)) return `${id} has all commits of ${branch}\n`;
  const at = (words: string) => (dryRun ? '' : `${words} at ${shortOid(head)}`);
  const isRebase = operation === 'rebase';
  // Nobody would find a merge commit.
  const goesOn = result.goesOn || (own.length > 0 && head === result.tip && !isRebase);
  const notes = [
    goesOn && commits > 0 && plural(commits, 'commit'),
    own.length > 0 && `${own.length === commits ? '' : `${own.length} of them `}accepted from ${id}`,
  ];
  const more = ` (${notes.filter(Boolean).join(', ')})`.replace(' ()', '');
  const rest = '; what has not landed stays in the sandbox, uncommitted';
  const left = !dryRun && head === result.tip && record.landed?.in_part ? rest : '';
  if (goesOn)
    return `${id} ${verb(dryRun, 'goes on', 'go on')} from ${branch}${more}${at(', and is')}${left}\n`;
  const done = verb(dryRun, `${operation}d`, operation);
  if (!isRebase)
    return `${done} ${plural(commits, 'commit')} of ${branch}${more} into ${id}${at(', which is')}\n`;
  const had = `, which ${dryRun ? 'has' : 'had'} ${plural(commits, 'new commit')}${more}`;
  const what = `${plural(ahead, 'commit')} of ${id} onto ${branch}${commits > 0 ? had : ''}`;
  return `${done} ${what}${at(`; ${id} is`)}\n`;
}

/** The branch that the user has named takes the place of one that is gone. */
function describeUserBranch({ record: before }: Session, { record, branch }: SyncResult, dryRun: boolean) {
  if (record.user_branch === before.user_branch) return '';
  return `the work of ${record.session_id} ${verb(dryRun, 'goes', 'go')} to ${branch} from now on\n`;
}

function describeDropped(result: SyncResult, dryRun: boolean) {
  const { record, branch, dropped, operation } = result;
  if (dropped.last === undefined) return '';
  const lost = `${listSome(dropped.commits, LISTED)}, which ${branch} has dropped`;
  if (operation === 'rebase') return `${dryRun ? 'would leave' : 'left'} out ${lost}\n`;
  const [stay, them] = dropped.commits.length === 1 ? ['stays', 'it'] : ['stay', 'them'];
  const rest = `in the sandbox, and agt accept leaves ${them} out`;
  return `${lost}, ${stay} ${rest}; to take ${them} out here, too: ${syncWith(record, branch, true)}\n`;
}

function describeRevert({ record, branch, reverting }: SyncResult, dryRun: boolean): string {
  if (reverting === undefined) return '';
  const [goes, way] = dryRun
    ? ['would go', '']
    : ['is gone', `; to have it back: agt undo ${record.session_id}`];
  return `${branch} has reverted work of this session (${shortOid(reverting)}): it ${goes} here, too${way}\n`;
}

async function describeConflicts({ repository }: Session, result: SyncResult, dryRun: boolean) {
  const { record, branch, conflicts, operation, dropped } = result;
  const { session_id: id, sandbox } = record;
  const files = `${plural(conflicts.length, 'file')}: ${listSome(conflicts, LISTED)}`;
  const lost =
    dropped.last === undefined
      ? `your commits that ${branch} has in another form`
      : `${listSome(dropped.commits, LISTED)}, which ${branch} has dropped`;
  const hasOld = operation === 'merge' && (dropped.last !== undefined || dropped.isRewritten === true);
  const back = dryRun ? '' : `agt undo ${id} && `;
  const onto = `${HEADS}${branch}`;
  const parent = record.from === undefined ? undefined : readRecord(repository, record.from);
  const orOnTop =
    operation === 'merge' &&
    parent &&
    (await landedSource(repository.git, parent, '', { onto, from: onto })) &&
    `hint: or rebase, which leaves out what has landed of ${record.from}: ${back}${syncWith(record, branch, true)}${dryRun ? ' -n' : ''}`;
  const without = hasOld && `hint: leave out ${lost}: ${back}${syncWith(record, branch, true)}`;
  if (dryRun) return lines([`error: ${branch} would conflict with ${id} in ${files}`, without || orOnTop]);
  return lines([
    `error: ${branch} conflicts with ${id} in ${files}`,
    without,
    `hint: ${hasOld ? 'or ' : ''}${solveFirst('them', sandbox, operation)}`,
    `hint: or go back: agt undo ${id}`,
    !hasOld && orOnTop,
  ]);
}

export const sessionReject = defineSessionCommand({
  name: 'session reject',
  several: true,
  summary: 'end a session without taking anything of its work',
  description:
    'Autocommit the session, then delete its sandbox and its work branch. No branch of yours changes. The snapshots ' +
    'stay until agt gc deletes them after agt.retention, and agt undo brings the session back.',
  options: {
    reason: option.value('why; agt session show prints it', 'm'),
    running: option.flag('also while a command of agt run or exec works there'),
    force: option.flag('as --running, and also with files that agt could not capture', 'f'),
    ...option.shared('dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt reject fix-login --reason "breaks the API"', 'the session ends, and its work goes nowhere'],
  ],
  run: async (args, context, session) => {
    const { record } = session;
    const { session_id: id, work_branch, branch, checkout, user_branch: home = '' } = record;
    const { reason, running, force, dryRun } = args;
    if (record.state === 'rejected') {
      const now = reason !== undefined && !dryRun ? await changeReason(session, reason) : record;
      const taken = reason === undefined ? '' : `; ${verb(dryRun, 'took', 'take')} the new reason`;
      const text = `${id}: rejected before${taken}; ${wayBack(record).join(', ')}\n`;
      return { json: recordJson(now), text, warnings: await stillSetAside(session) };
    }
    if (isEnded(record)) {
      throw new AgtError(`session "${id}" is already ${record.state}`, { hints: wayBack(record) });
    }
    const request = { reason, running, force, now: context.now(), outcome: 'rejected' } as const;
    const { folder } = await planRemoval(session, false);
    const back = await besideTheEnd(session, { dryRun, outcome: 'rejected' });
    const atWork = running || force ? [] : agentAtWork(session, request.now);
    const ways = await waysOff(session);
    const deleted = await interruptible(context, session, () =>
      dryRun ? requireRemovable(session, request) : removeSession(session, request),
    );
    const returned = `${verb(dryRun, 'returned', 'return')} ${checkout} to ${shortBranch(home)}`;
    const removed = folder && `${verb(dryRun, 'removed', 'remove')}  ${folder}`;
    return {
      json: {
        session_id: id,
        state: dryRun ? record.state : 'rejected',
        reason: reason ?? null,
        folder: folder ?? null,
        ...deleted,
        dry_run: dryRun,
      },
      warnings: lines(atWork.map((one) => `warning: ${one}`)),
      text: `${lines([
        `${verb(dryRun, 'rejected', 'reject')} ${id}`,
        checkout === undefined ? removed : returned,
        back,
        `${verb(dryRun, 'deleted', 'delete')}  branch ${shortBranch(work_branch)}`,
        `${verb(dryRun, 'kept ', 'keep')}    its snapshots on ${shortBranch(branch)} for the time of agt.retention; agt undo ${id} brings it back`,
        ...ways.map(([onto, way]) => `stays    its work on ${onto}, accepted before; ${way}`),
      ])}${describeDeleted(deleted, dryRun)}`,
    };
  },
});

/** Commits that a note names. */
const NAMED = 3;

export const sessionExport = defineSessionCommand({
  name: 'session export',
  summary: 'push the work branch to a remote',
  description:
    'Push the work branch, and nothing else, and make it the upstream. Refuse if the sandbox has uncommitted changes, ' +
    'if its HEAD is not the work branch, if a commit to push contains a snapshot of the session folder, or if the ' +
    'target is the default branch of the remote.',
  options: {
    as: option.named('branch', 'push to this branch (default: the name of the work branch)'),
    remote: option.value('push to this remote (default: the remote of the user branch)'),
    'allow-dirty': option.flag('push although the sandbox has uncommitted changes'),
    'force-default': option.flag('push although the branch is the default branch of the remote'),
    pr: option.flag(
      'open a pull request with gh; its text is the messages of the commits, below the first prompt if there are several',
    ),
    ...option.shared('dry-run', 'quiet', 'json'),
  },
  examples: [
    ['agt session export fix-login', 'push to the branch agt/fix-login'],
    ['agt session export fix-login --pr', 'push, and open a pull request'],
    ['agt session export --as fix/login --dry-run', 'show what would be pushed as fix/login'],
  ],
  run: async (args, context, session) => {
    const exported = await exportSession(session, { ...args, now: context.now() });
    const { home, ...published } = exported;
    const { commits, remote, branch, others } = published;
    const done = verb(args.dryRun, 'exported', 'export');
    if (!args.json) context.out(`${done} ${plural(commits, 'commit')} to ${remote} as ${branch}\n`);
    const from = home === undefined ? 'from outside of the session' : `of ${home}`;
    const more = `${plural(others.length, 'commit')} ${from} that ${remote} did not have`;
    if (others.length > 0) context.err(`note: with ${more}: ${listSome(others, NAMED)}\n`);
    context.err(await warnOfRejected(session, exported.commit));
    const draft = args.pr ? await draftPullRequest(session, exported) : undefined;
    const { address, wasThere, place } = draft
      ? await openPullRequest(session, exported, draft, args.dryRun)
      : {};
    if (place !== undefined)
      context.err(`note: gh is not installed; open the pull request ${place}, with this text\n`);
    const shown = draft && [
      args.dryRun && place === undefined && 'would open a pull request',
      ...indented(`${draft.title}\n\n${draft.body}`.trim()),
    ];
    return {
      json: {
        ...published,
        others: others.length,
        pull_request: address ?? null,
        ...orNull({ title: draft?.title, body: draft?.body }),
        dry_run: args.dryRun,
      },
      text: wasThere
        ? `the pull request is there already: ${address ?? branch}\n`
        : lines(address === undefined ? (shown ?? []) : [`opened ${address}`]),
    };
  },
});
