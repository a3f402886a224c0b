/**
 * Creates a session: first its metadata, then its folder, its refs and its worktree. If a step fails, or a person
 * interrupts agt, it undoes all steps, the last one first. If agt is killed, the metadata have the intent `create`, so
 * `agt doctor` finds what is left.
 */
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeTimestamp } from '../autocommit/timestamp.ts';
import { recordPrefixes } from '../config/prefixes.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError, EXIT, systemFailure } from '../errors.ts';
import { shadowRef, stashRef, takenRef, tipRef, workRef } from '../filter/agent-refs.ts';
import { hasRef, hasRefFiles, shortBranch } from '../git/files/ref-files.ts';
import { refuseBlockedWorktrees, runWorktree } from '../git/files/worktree-registrations.ts';
import { type GitConfig, readGitConfig } from '../git/run/config.ts';
import { gitLines, gitText, resolveObject, updateRefs } from '../git/run/git.ts';
import { sharedFile } from '../layout.ts';
import { catchInterrupts } from '../process/interrupts.ts';
import { hideAgentRefs } from '../repository/hide-refs.ts';
import { type Repository, refuseHomeAndRoot } from '../repository/repository.ts';
import { requireWritable } from '../repository/sessions-place.ts';
import type { SessionId } from '../session/id.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { complete, wayBack } from '../session/operation.ts';
import { chooseWorkspace, keepRegistered, removeWorkspace } from '../session/provider.ts';
import { readRecord, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { isEnded } from '../session/state.ts';
import {
  type ChooseSource,
  type CloneSource,
  cloneFolder,
  makeFolder,
  moveIntoWorktree,
} from '../workspace/clone.ts';
import { addWorktree } from './add-worktree.ts';
import { undoEntering } from './in-place/set-aside.ts';
import { undoUnfinishedCreation } from './undo-creation.ts';

export interface SessionToCreate {
  readonly id: SessionId;
  /** The work branch starts here. */
  readonly workCommit: string;
  /** The shadow branch starts here, if not at the same commit: for a fork a snapshot of the other session. */
  readonly shadowCommit?: string;
  readonly userBranch: string | undefined;
  readonly from?: SessionId | undefined;
  readonly fromSpec?: string | undefined;
  readonly profile?: string | undefined;
  readonly now: Date;
  /** Fills the session folder when branches and worktree exist. A fork writes its files here. */
  readonly fill: (session: LockedSession, made: Made) => Promise<void>;
  /** Otherwise agt registers the worktree but leaves its files to `fill`. */
  readonly checkOut?: true;
  /** The user's own checkout, in place of a worktree of the session. */
  readonly checkout?: string | undefined;
  readonly showProgress?: boolean;
  /** git's configuration, if the caller reads it already. */
  readonly config?: Promise<GitConfig>;
  /** A value of fs.snapshots; undefined for git. */
  readonly snapshots?: string | undefined;
  /** The user's own path, for the working copy `cow-overlay`. */
  readonly standsAt?: string | undefined;
  /** A folder to clone, if the provider can; undefined for an empty one. */
  readonly clone?: ChooseSource | undefined;
}

interface Made {
  readonly config: GitConfig;
  /** The folder has the files of this one. */
  readonly clone: CloneSource | undefined;
}

export async function createSession(repository: Repository, wanted: SessionToCreate): Promise<SessionRecord> {
  refuseHomeAndRoot(repository);
  await undoUnfinishedCreation(repository, wanted.id);
  return withSessionLock({ repository, id: wanted.id }, (session) => create(session, wanted));
}

type Undo = () => Promise<unknown> | unknown;

async function create(locked: LockedSession, wanted: SessionToCreate): Promise<SessionRecord> {
  const { repository } = locked;
  const folder = join(await repository.sessionsDir(), wanted.id);
  requireWritable(dirname(folder));
  const record = describe(repository, wanted, folder);
  await requireFreeId(repository, wanted.id);
  const session = locked.with(record);
  const undo: Undo[] = [];
  const interrupts = catchInterrupts(`session "${wanted.id}" was not created`);
  try {
    const made = await createResources(session, wanted, undo);
    interrupts.throwIfAny();
    await wanted.fill(session, made);
    keepRegistered(record);
    interrupts.throwIfAny();
    failurePoint('create: filled');
    // The folder holds nothing else than the snapshot that it was made from.
    writeTimestamp(repository.agtDir, wanted.id, wanted.now);
    return complete(session, 'create');
  } catch (error) {
    if (await undoSteps(undo, record)) session.forget();
    else if (record.checkout !== undefined) throw await halfWay(session, error);
    interrupts.throwIfAny();
    throw error;
  } finally {
    interrupts.release();
  }
}

/** Each step adds to `undo` before it acts. */
async function createResources(session: LockedSession, wanted: SessionToCreate, undo: Undo[]): Promise<Made> {
  const { record, repository, git } = session;
  refuseBlockedWorktrees(repository.commonDir);
  const config = await (wanted.config ?? readGitConfig(git));
  // Of a pull that was killed, or of a session that is gone.
  rmSync(sharedFile(repository.agtDir, record.session_id), { force: true });
  session.write(record);
  recordPrefixes(repository.agtDir, repository.settings);
  await hideAgentRefs(repository, config);
  failurePoint('create: hidden from fetch');

  undo.push(() => removeWorkspace(session));
  const cloned = await cloneFolder(session, wanted.clone);
  if (cloned === undefined) await makeFolder(session);
  failurePoint('create: folder made');

  undo.push(() => gitText(git, ['update-ref', '-d', takenRef(record.session_id)]));
  const { workCommit, shadowCommit = workCommit } = wanted;
  const refs = [
    [record.work_branch, workCommit],
    [record.branch, shadowCommit],
    [tipRef(record.session_id), shadowCommit],
  ] as const;
  for (const [ref, commit] of refs)
    undo.push(async () => {
      // One that somebody has moved stays.
      if ((await resolveObject(git, ref)) === commit) await updateRefs(git, [`delete ${ref} ${commit}`]);
    });
  const creating = refs.map(([ref, commit]) => `create ${ref} ${commit}`);
  await updateRefs(git, creating, 'agt: session');
  failurePoint('create: refs made');

  if (wanted.checkout !== undefined) {
    // A snapshot holds only what is in the checkout again then.
    undo.push(() => updateRefs(git, [`delete ${record.branch}`, `delete ${tipRef(record.session_id)}`]));
    undo.push(async () => {
      const undone = await undoEntering(session);
      if (undone === undefined || undone.trouble !== undefined)
        throw new Error('what is in the checkout would be lost'); // agt tells the error before it
    });
    symlinkSync(wanted.checkout, record.sandbox);
    failurePoint('create: checkout linked');
    return { config, clone: undefined };
  }
  undo.push(() => runWorktree(git, ['worktree', 'remove', '--force', '--force', record.sandbox]));
  const checkOut = wanted.checkOut === true && cloned === undefined;
  await addWorktree(session, { ...wanted, checkOut }, config);
  failurePoint('create: worktree added');
  if (cloned !== undefined) await moveIntoWorktree(session, cloned.workspace, cloned.source);
  return { config, clone: cloned?.source };
}

/**
 * False if one cannot be undone: agt still undoes the others. Then the metadata stay, so that the same command, or agt
 * doctor, can undo the rest. agt reports the error that made it undo the steps.
 */
async function undoSteps(undo: readonly Undo[], { checkout }: SessionRecord): Promise<boolean> {
  let isUndone = true;
  for (const step of undo.toReversed()) {
    try {
      await step();
    } catch {
      isUndone = false;
      if (checkout !== undefined) break; // the user's own checkout may still be on the work branch
    }
  }
  return isUndone;
}

/** The same error, with what stays in the user's own checkout. */
async function halfWay({ git, record }: Session, error: unknown): Promise<AgtError> {
  const { session_id: id, checkout } = record;
  const ref = stashRef(id);
  const isSetAside = (await resolveObject(git, ref)) !== undefined;
  const known = error instanceof AgtError ? error : undefined;
  const message = known?.message ?? systemFailure(error) ?? String(error);
  return new AgtError(message, {
    hints: [
      ...(known?.hints ?? []),
      `agt could not undo the steps before in ${checkout}; session "${id}" and its branches stay`,
      ...(isSetAside ? [`your uncommitted work is safe under ${ref}`] : []),
      'remove the cause, then let agt return to your branch and put your work back: agt doctor --fix',
    ],
    exitCode: known?.exitCode ?? EXIT.failed,
    cause: error,
  });
}

function describe(repository: Repository, wanted: SessionToCreate, folder: string): SessionRecord {
  const time = wanted.now.toISOString();
  const renamed = wanted.from && readRecord(repository, wanted.from)?.renamed;
  return {
    session_id: wanted.id,
    branch: shadowRef(repository.settings, wanted.id),
    work_branch: workRef(repository.settings, wanted.id),
    ...(wanted.userBranch === undefined ? {} : { user_branch: wanted.userBranch }),
    sandbox: join(folder, 'sandbox'),
    ...(wanted.from === undefined ? {} : { from: wanted.from }),
    ...(renamed && { renamed: { ...renamed, [wanted.id]: wanted.id } }),
    ...(wanted.fromSpec === undefined ? {} : { from_spec: wanted.fromSpec }),
    from_commit: wanted.workCommit,
    created_at: time,
    last_activity_at: time,
    ...(wanted.profile === undefined ? {} : { profile: wanted.profile }),
    isolation: 'none',
    ...workspaceOf(repository, folder, wanted),
    state: 'creating',
    intent: { operation: 'create' },
  };
}

/** The user's own checkout is no folder of a provider. */
function workspaceOf(
  repository: Repository,
  folder: string,
  { checkout, snapshots, standsAt }: SessionToCreate,
) {
  if (checkout !== undefined) {
    const captures = snapshots === 'disable' ? ({ captures: 'by command' } as const) : {};
    return { provider: 'git', ...captures, working_copy: 'in-place', checkout } as const;
  }
  const fields = chooseWorkspace(repository, folder, snapshots);
  if (standsAt === undefined) return { ...fields, working_copy: 'worktree' } as const;
  return { ...fields, working_copy: 'cow-overlay', stands_at: standsAt } as const;
}

/** `kept`: a work branch with this commit may be there. @throws AgtError if a session, a folder or a ref with this id exists. */
export async function requireFreeId(repository: Repository, id: SessionId, kept?: string): Promise<void> {
  const existing = readRecord(repository, id);
  if (existing !== undefined && isEnded(existing)) {
    throw new AgtError(`session "${id}" was ${existing.state}, and its snapshots are kept`, {
      hints: [
        ...wayBack(existing),
        `or choose another id, or delete the snapshots: agt session remove ${id} --delete-branch`,
      ],
    });
  }
  if (existing !== undefined)
    throw alreadyExists('session', id, `, or work in that session: agt run ${id} -- COMMAND`);
  const folder = join(await repository.sessionsDir(), id);
  if (existsSync(folder)) throw alreadyExists('folder', folder, ', or move that folder away');
  const work = workRef(repository.settings, id);
  const isKept = kept !== undefined && (await resolveObject(repository.git, work)) === kept;
  const refs = [shadowRef(repository.settings, id), ...(isKept ? [] : [work]), tipRef(id)];
  const found = await firstExisting(repository, refs);
  if (found !== undefined) throw alreadyExists('branch', shortBranch(found), ', or rename that branch');
}

async function firstExisting({ git, commonDir }: Repository, refs: readonly string[]) {
  if (hasRefFiles(commonDir, git.env)) return refs.find((ref) => hasRef(commonDir, ref));
  const listed = await gitLines(git, ['for-each-ref', '--format=%(refname)', '--', ...refs]);
  return listed.find((ref) => refs.includes(ref));
}

function alreadyExists(kind: string, name: string, more: string): AgtError {
  return new AgtError(`${kind} "${name}" already exists`, { hints: [`choose another id${more}`] });
}
