import { shortBranch, shortOid } from '../../../git/files/ref-files.ts';
import { gitAnswer } from '../../../git/run/git.ts';
import type { Repository } from '../../../repository/repository.ts';
import { readSessionStatus, type SessionStatus } from '../../../survey/status.ts';
import { isThere, listMoments, type Moment } from '../../../workspace/moments.ts';
import { defineSessionCommand, shared } from '../../command-line/command.ts';
import { age, plural, table } from '../../output/format.ts';
import { lastAutocommitAge, sessionJson } from '../../output/session.ts';

export const sessionShow = defineSessionCommand({
  name: 'session show',
  group: 'sessions',
  summary: 'show one session: paths, branches and last autocommit',
  options: shared('json'),
  examples: [['agt session show fix-login', 'show everything about one session']],
  run: async (_, context, session) => {
    const view = await readSessionStatus(session);
    const moment = listMoments(session.repository.agtDir, view.record).findLast(isThere);
    const text = async () =>
      table([
        ...describeSession(view, context.now()),
        ...(await describeCommit(session.repository, view)),
        ...describeMoment(moment, context.now()),
      ]);
    return { json: { ...sessionJson(view), last_frozen: moment ? momentJson(moment) : null }, text };
  },
});

function momentJson({ token, commit, made }: Moment) {
  return { folder: token.path, commit, at: made };
}

function describeMoment(moment: Moment | undefined, now: Date): string[][] {
  if (moment === undefined) return [];
  const { commit, made, token } = moment;
  return [['last frozen', `${age(new Date(made), now)}, snapshot ${shortOid(commit)}: ${token.path}`]];
}

/** For a session in place: the user sees that branch checked out. */
async function describeCommit({ git }: Repository, { record }: SessionStatus): Promise<string[][]> {
  if (record.checkout === undefined) return [];
  const words = ['log', '-1', '--no-show-signature', '--format=%h %s', record.work_branch, '--'];
  const commit = await gitAnswer(git, words);
  return commit === undefined ? [] : [['last commit', commit]];
}

function sandboxText({ record: { sandbox }, sandboxPresent, isOutOfSight }: SessionStatus): string {
  if (sandboxPresent) return sandbox;
  return `${sandbox} (${isOutOfSight ? 'out of sight from here' : 'missing'})`;
}

function describeSession(view: SessionStatus, now: Date): string[][] {
  const { record, headCommit } = view;
  const workBranch = shortBranch(record.work_branch);
  const userBranch = record.user_branch;
  const startCommit = shortOid(record.from_commit);
  return [
    ['session', record.session_id],
    ['state', record.state_reason === undefined ? record.state : `${record.state}: ${record.state_reason}`],
    ['folder', view.folder],
    ['sandbox', sandboxText(view)],
    ['work branch', headCommit ? `${workBranch} at ${shortOid(headCommit)}` : workBranch],
    ['shadow branch', `${shortBranch(record.branch)}, ${plural(view.autocommits ?? 0, 'autocommit')}`],
    ['last autocommit', lastAutocommitAge(view, now)],
    ['user branch', userBranch === undefined ? 'none (started from a commit)' : shortBranch(userBranch)],
    ['start commit', record.from === undefined ? startCommit : `${startCommit} from session ${record.from}`],
    ...(record.landed === undefined
      ? []
      : [['landed', `${shortOid(record.landed.commit)} on ${shortBranch(record.landed.onto)}`]]),
    ['created', record.created_at],
    ['provider', `${record.provider}${record.captures === undefined ? '' : ', snapshots by command only'}`],
    ['working copy', record.working_copy],
    ...(record.profile === undefined ? [] : [['profile', record.profile]]),
  ];
}
