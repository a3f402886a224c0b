/**
 * `agt session adopt`: gives a session of the agt of simbo1905 a work branch and a shadow branch of its own. The commits
 * of the agent become the work branch, without the snapshots between them; the old branch stays reachable from the first
 * snapshot. Each step can be done again: if agt is killed, the same command finishes.
 */
import { recordPrefixes } from '../config/prefixes.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError } from '../errors.ts';
import { adoptedRef, shadowRef, tipRef, workRef } from '../filter/agent-refs.ts';
import { type Git, gitBytes, gitText, isAncestor, resolveObject, updateRefs } from '../git/run/git.ts';
import { hideAgentRefs } from '../repository/hide-refs.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionId } from '../session/id.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import type { SessionRecord } from '../session/record.ts';
import { requireSandbox, sandboxHead } from '../session/sandbox.ts';
import { listUpstreamRecords, type UpstreamRecord } from '../session/upstream-record.ts';
import { captureSession } from '../workspace/capture-session.ts';

/** Returns the metadata, and the result of the first capture. */
export function adoptSession(repository: Repository, id: SessionId, now: Date) {
  return withSessionLock({ repository, id }, async (session) => {
    const found = listUpstreamRecords(repository).find(({ session_id }) => session_id === id);
    const record =
      found === undefined ? await unfinishedAdoption(session) : await takeOver(session, found, now);
    return captureFirst(session.with(record), now);
  });
}

/** A session that agt was killed with after it had written the metadata. */
async function unfinishedAdoption(session: LockedSession): Promise<SessionRecord> {
  const record = session.read();
  const isUnfinished = (await resolveObject(session.git, adoptedRef(session.id))) !== undefined;
  if (record !== undefined && isUnfinished) return record;
  throw new AgtError(
    record === undefined
      ? `no session "${session.id}"`
      : `session "${session.id}" has its two branches already`,
    { hints: ['adopt is for sessions that the agt of simbo1905 made'] },
  );
}

async function takeOver(session: LockedSession, found: UpstreamRecord, now: Date): Promise<SessionRecord> {
  const { repository, git } = session;
  const record = recordOf(repository, found, now);
  const adopted = session.with(record);
  requireSandbox(adopted);
  const kept = adoptedRef(found.session_id);
  const tip = (await resolveObject(git, kept)) ?? (await resolveObject(git, `${found.branch}^{commit}`));
  if (tip === undefined)
    throw new AgtError(`the branch of session "${found.session_id}" is gone: ${found.branch}`);
  const work = await workCommits(git, tip, found.from_commit);
  const refs = [
    [kept, tip],
    [record.work_branch, work],
    [record.branch, found.from_commit],
    [tipRef(found.session_id), found.from_commit],
  ];
  const existing = await resolveObject(git, record.work_branch);
  if (existing !== undefined && existing !== work)
    throw new AgtError(`branch "${record.work_branch}" already exists`, {
      hints: ['rename it, then adopt the session'],
    });
  recordPrefixes(repository.agtDir, repository.settings);
  await hideAgentRefs(repository);
  const reason = 'agt: session adopt';
  const lines = refs.map(([ref, commit]) => `update ${ref} ${commit}`);
  await updateRefs(git, lines, reason);
  failurePoint('adopt: refs moved');
  if ((await sandboxHead(adopted)).ref === found.branch)
    await gitText(adopted.sandboxGit, ['symbolic-ref', '-m', reason, 'HEAD', record.work_branch]);
  failurePoint('adopt: HEAD on the work branch');
  session.write(record);
  return record;
}

async function captureFirst(session: LockedSession, now: Date) {
  const { git } = session;
  const kept = adoptedRef(session.id);
  const tip = await resolveObject(git, kept);
  const keep = tip === undefined ? [] : [tip];
  const captured = await captureSession(session, { now, label: 'adopted', keep });
  failurePoint('adopt: captured');
  if (tip !== undefined && (await isAncestor(git, tip, tipRef(session.id))))
    await gitText(git, ['update-ref', '-d', kept, tip]);
  return { record: session.record, commit: captured.commit, failed: captured.failed };
}

function recordOf({ settings }: Repository, found: UpstreamRecord, now: Date): SessionRecord {
  const { session_id: id, user_branch: userBranch, profile } = found;
  return {
    session_id: id,
    branch: shadowRef(settings, id),
    work_branch: workRef(settings, id),
    ...(userBranch === undefined ? {} : { user_branch: userBranch }),
    sandbox: found.sandbox,
    from_commit: found.from_commit,
    created_at: found.created_at.toISOString(),
    last_activity_at: now.toISOString(),
    ...(profile === undefined ? {} : { profile }),
    isolation: 'none',
    provider: 'git',
    working_copy: 'worktree',
    state: 'active',
    state_at: now.toISOString(),
  };
}

/** The author and the subject of that agt's snapshots. */
const SNAPSHOT = 'agt\tagt autocommit';

/**
 * The agent's commits on top of each other. Where there is no snapshot between two of them, they stay as they are; else
 * agt makes the same commit with another parent, with the same people and dates, so that a second try makes it again.
 */
async function workCommits(git: Git, tip: string, start: string): Promise<string> {
  const args = ['log', '--first-parent', '--reverse', '--no-show-signature', '--no-mailmap'];
  const listed = await gitText(git, [...args, '--format=%H%x09%P%x09%an%x09%s', tip, `^${start}`, '--']);
  let last = start;
  for (const line of listed.split('\n').filter((text) => text !== '')) {
    const [commit = '', parents = '', ...rest] = line.split('\t');
    if (rest.join('\t') === SNAPSHOT) continue;
    const [first = '', ...others] = parents.split(' ');
    last = first === last ? commit : await withParents(git, commit, [last, ...others]);
  }
  return last;
}

async function withParents(git: Git, commit: string, parents: readonly string[]): Promise<string> {
  const content = (await gitBytes(git, ['cat-file', 'commit', commit])).toString('latin1');
  const [head = '', ...body] = content.split('\n\n');
  const kept = head.split('\n').filter((line) => /^(tree|author|committer|encoding) /.test(line));
  const [tree = '', ...others] = kept;
  const lines = [tree, ...parents.map((oid) => `parent ${oid}`), ...others];
  const input = Buffer.from([lines.join('\n'), ...body].join('\n\n'), 'latin1');
  return gitText(git, ['hash-object', '-t', 'commit', '-w', '--stdin'], { input });
}
