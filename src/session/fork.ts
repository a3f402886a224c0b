/**
 * `agt session fork`: new sessions that go on from a whole state of another one. Without a state named, the other session
 * is captured first, and the new folder is written from that capture, so that both are the same moment.
 */
import { AgtError, isAgtError } from '../errors.ts';
import { gitAnswer, inDirectory, runGit } from '../git/git.ts';
import { autocommit } from './autocommit.ts';
import { checkOutState } from './checkout/checkout.ts';
import { restoreIndex, restoreOperation } from './checkout/sandbox-state.ts';
import { readState, type State } from './checkout/state.ts';
import { createSession, refuseTaken } from './create.ts';
import { type Moment, readHistory } from './history.ts';
import { checkId, generateId, type SessionId } from './id.ts';
import { findMoment } from './moment.ts';
import { type SessionRecord, sessionFolder, workRef } from './record.ts';
import type { Repository } from './repository.ts';
import { sandboxIsThere } from './sandbox.ts';

export interface ForkRequest {
  readonly id: string | undefined;
  /** A state of the source; undefined means as it is now. */
  readonly at: string | undefined;
  /** So many forks, named `<id>-1`, `<id>-2`, …; undefined means one, named `id`. */
  readonly count: number | undefined;
  readonly now: Date;
}

export interface Forked {
  readonly records: SessionRecord[];
  readonly warnings: string[];
}

/** @throws AgtError; where some forks were made before the one that failed, the hints name them. */
export async function forkSession(
  repository: Repository,
  source: SessionRecord,
  request: ForkRequest,
): Promise<Forked> {
  const ids = idsOf(request);
  for (const id of ids) await refuseTaken(repository, id);
  const origin = await readOrigin(repository, source, request, ids[0] as SessionId);
  const records: SessionRecord[] = [];
  try {
    for (const id of ids) records.push(await fork(repository, source, origin, id, request.now));
  } catch (error) {
    if (!isAgtError(error) || records.length === 0) throw error;
    const made = records.map((record) => record.session_id).join(', ');
    const { message, exitCode, cause } = error;
    throw new AgtError(message, { exitCode, cause, hints: [...error.hints, `made before that: ${made}`] });
  }
  return { records, warnings: origin.warnings };
}

function idsOf({ id, count, now }: ForkRequest): SessionId[] {
  if (count === undefined) return [id === undefined ? generateId(now) : checkId(id)];
  return Array.from({ length: count }, (_, i) =>
    id === undefined ? generateId(now) : checkId(`${id}-${i + 1}`),
  );
}

/** What the forks begin with. */
interface Origin {
  readonly state: State;
  /** The work branch of the session that the state is of. */
  readonly workBranchThen: string;
  /** Where the work branches start. */
  readonly workCommit: string;
  /** Where HEAD is to be detached; undefined where it is on the work branch. */
  readonly detached: string | undefined;
  readonly warnings: string[];
}

async function readOrigin(
  repository: Repository,
  source: SessionRecord,
  request: ForkRequest,
  id: SessionId,
): Promise<Origin> {
  if (request.at === undefined && source.state === 'active' && sandboxIsThere(source)) {
    const { now } = request;
    const captured = await autocommit(repository, source, { now, label: `before fork to ${id}` });
    const warnings = [
      ...captured.warnings,
      ...captured.skipped.map(({ path, reason }) => `not in the fork: ${path}: ${reason}`),
      ...captured.failed.map(
        ({ path, reason }) => `in the fork as it last was, if at all: ${path}: ${reason}`,
      ),
    ];
    const [moment] = await readHistory(repository, source);
    if (moment === undefined) throw new AgtError(`session "${source.session_id}" has no state to fork`);
    const workBranch = () =>
      gitAnswer(repository.git, ['rev-parse', '--verify', '--quiet', `${source.work_branch}^{commit}`]);
    return describeOrigin(repository, source, moment, workBranch, warnings);
  }
  const history = await readHistory(repository, source);
  const moment = await findMoment(repository, source, history, request.at ?? '@', request.now);
  const warnings =
    request.at === undefined
      ? [
          `"${source.session_id}" has no sandbox now: forked from its last state, of ${moment.at.toISOString()}`,
        ]
      : [];
  const earlier = history.slice(history.indexOf(moment) + 1);
  return describeOrigin(repository, source, moment, () => lastWorkCommit(repository, earlier), warnings);
}

/** `workBranch` finds the work branch's commit of a state that had HEAD elsewhere, and so does not say it. */
async function describeOrigin(
  repository: Repository,
  source: SessionRecord,
  moment: Moment,
  workBranch: () => Promise<string | undefined>,
  warnings: string[],
): Promise<Origin> {
  const state = await readState(repository.git, moment.commit);
  const { ref, commit } = state.manifest.head;
  const workBranchThen = workRef(repository, moment.session as SessionId);
  if (commit !== null && ref === workBranchThen)
    return { state, workBranchThen, workCommit: commit, detached: undefined, warnings };
  if (commit === null)
    warnings.push('HEAD was on a branch without commits; in the fork it is on its work branch');
  else warnings.push(`HEAD is detached at ${commit.slice(0, 10)}, where it is in the other session`);
  return {
    state,
    workBranchThen,
    workCommit: (await rebasedBranch(repository, state)) ?? (await workBranch()) ?? source.from_commit,
    detached: commit ?? undefined,
    warnings,
  };
}

/** In a rebase the branch stays where it was until the end, and git notes where that is. */
function rebasedBranch(repository: Repository, { commit, manifest }: State): Promise<string | undefined> {
  const place = `${commit}:_/operation/rebase-merge/orig-head`;
  return manifest.operation === 'rebase'
    ? gitAnswer(repository.git, ['cat-file', 'blob', place])
    : Promise.resolve(undefined);
}

/** Where the work branch was seen last. */
async function lastWorkCommit(
  repository: Repository,
  moments: readonly Moment[],
): Promise<string | undefined> {
  for (const { commit, session } of moments) {
    const { head } = (await readState(repository.git, commit)).manifest;
    if (head.commit !== null && head.ref === workRef(repository, session as SessionId)) return head.commit;
  }
  return undefined;
}

function fork(
  repository: Repository,
  source: SessionRecord,
  { state, workBranchThen, workCommit, detached }: Origin,
  id: SessionId,
  now: Date,
): Promise<SessionRecord> {
  return createSession(repository, {
    id,
    workCommit,
    shadowCommit: state.commit,
    userBranch: source.user_branch,
    from: source.session_id,
    fromSpec: state.commit,
    profile: source.profile,
    now,
    checkOut: false,
    showProgress: false,
    fill: async (record) => {
      await checkOutState(repository.git, state.commit, sessionFolder(record));
      await restoreIndex(repository.git, state, record.sandbox);
      const { sandbox, work_branch } = record;
      await restoreOperation(repository.git, state, { sandbox, workBranch: work_branch, workBranchThen });
      if (detached === undefined) return;
      await runGit(inDirectory(repository.git, sandbox), ['update-ref', '--no-deref', 'HEAD', detached]);
    },
  });
}
