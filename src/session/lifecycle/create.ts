/**
 * Makes a session: metadata first, then folder, branches and worktree. Whatever fails on the way is undone in the
 * reverse order; whatever a crash leaves is named by metadata in the state `creating` (see doctor.ts).
 */
import { existsSync, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError } from '../../errors.ts';
import { shortBranch } from '../../git/files/refnames.ts';
import { dropUnfinishedWorktrees } from '../../git/files/worktree-registrations.ts';
import { FLUSHED, gitAnswer, gitText, runGit } from '../../git/run/git.ts';
import { hideAgentRefs } from '../../repository/hide-refs.ts';
import { refuseHomeAndRoot } from '../../repository/refused-folders.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionId } from '../id.ts';
import { withSessionLock } from '../lock.ts';
import {
  deleteRecord,
  readRecord,
  type SessionRecord,
  shadowRef,
  tipRef,
  workRef,
  writeRecord,
} from '../record.ts';

export interface NewSession {
  readonly id: SessionId;
  /** Where the work branch starts. */
  readonly workCommit: string;
  /** Where the shadow branch starts: the same, or for a fork the other session's state. */
  readonly shadowCommit: string;
  readonly userBranch: string | undefined;
  readonly from?: SessionId | undefined;
  readonly fromSpec?: string | undefined;
  readonly profile?: string | undefined;
  readonly now: Date;
  /** Fills the session folder once branches and worktree stand; a fork writes the other session's files. */
  readonly fill: (record: SessionRecord) => Promise<void>;
  /** False: the worktree is registered but its files are left to `fill`. */
  readonly checkOut: boolean;
  readonly showProgress: boolean;
}

export async function createSession(repository: Repository, wanted: NewSession): Promise<SessionRecord> {
  refuseHomeAndRoot(repository);
  return withSessionLock(repository, wanted.id, () => create(repository, wanted));
}

async function create(repository: Repository, wanted: NewSession): Promise<SessionRecord> {
  const folder = join(await repository.sessionsDir(), wanted.id);
  const record = describe(repository, wanted, folder);
  await refuseTaken(repository, wanted.id);
  const undo: (() => Promise<unknown> | unknown)[] = [];
  try {
    undo.push(() => deleteRecord(repository, record.session_id));
    writeRecord(repository, record);
    await hideAgentRefs(repository);
    failurePoint('create: hidden from fetch');

    undo.push(() => removeTree(folder));
    for (const part of ['xdg', 'config']) mkdirSync(join(folder, part), { recursive: true });
    failurePoint('create: folder made');

    for (const ref of refsOf(record, wanted)) undo.push(() => deleteRef(repository, ref));
    await createRefs(repository, record, wanted);
    failurePoint('create: refs made');

    undo.push(() => runGit(repository.git, ['worktree', 'remove', '--force', '--force', record.sandbox]));
    await addWorktree(repository, record, wanted);
    failurePoint('create: worktree added');

    await wanted.fill(record);
    failurePoint('create: filled');
    const active: SessionRecord = { ...record, state: 'active' };
    writeRecord(repository, active);
    return active;
  } catch (error) {
    // One step that cannot be undone keeps no other from it, nor the reason from being told.
    for (const step of undo.reverse()) await attempt(step);
    throw error;
  }
}

async function attempt(step: () => Promise<unknown> | unknown): Promise<void> {
  try {
    await step();
  } catch {
    // the reason for undoing is the one that is told
  }
}

function describe(repository: Repository, wanted: NewSession, folder: string): SessionRecord {
  const time = wanted.now.toISOString();
  return {
    session_id: wanted.id,
    branch: shadowRef(repository, wanted.id),
    work_branch: workRef(repository, wanted.id),
    ...(wanted.userBranch === undefined ? {} : { user_branch: wanted.userBranch }),
    sandbox: join(folder, 'sandbox'),
    ...(wanted.from === undefined ? {} : { from: wanted.from }),
    ...(wanted.fromSpec === undefined ? {} : { from_spec: wanted.fromSpec }),
    from_commit: wanted.workCommit,
    created_at: time,
    last_activity_at: time,
    ...(wanted.profile === undefined ? {} : { profile: wanted.profile }),
    isolation: 'none',
    provider: 'git',
    working_copy: 'worktree',
    state: 'creating',
  };
}

/** @throws AgtError where an id is taken, or one of the names that a session of it would have. */
export async function refuseTaken(repository: Repository, id: SessionId): Promise<void> {
  const existing = readRecord(repository, id);
  if (existing?.state === 'removed') {
    throw new AgtError(`session "${id}" was removed, and its states are kept`, {
      hints: [`choose another id, or forget them: agt session remove --id ${id} --delete-branch`],
    });
  }
  if (existing !== undefined) throw alreadyThere(`session "${id}"`);
  const folder = join(await repository.sessionsDir(), id);
  if (existsSync(folder)) throw alreadyThere(`the folder ${folder}`);
  const refs = [shadowRef(repository, id), workRef(repository, id), tipRef(id)];
  const listed = await gitText(repository.git, ['for-each-ref', '--format=%(refname)', '--', ...refs]);
  const found = listed.split('\n').find((ref) => refs.includes(ref));
  if (found !== undefined) throw alreadyThere(`branch ${shortBranch(found)}`);
}

function alreadyThere(what: string): AgtError {
  return new AgtError(`${what} exists already`, { hints: ['choose another id'] });
}

type NewRef = readonly [ref: string, commit: string];

function refsOf(record: SessionRecord, at: NewSession): NewRef[] {
  return [
    [record.work_branch, at.workCommit],
    [record.branch, at.shadowCommit],
    [tipRef(record.session_id), at.shadowCommit],
  ];
}

/** In one transaction, which a disk that fails can break half way all the same. */
async function createRefs(repository: Repository, record: SessionRecord, at: NewSession): Promise<void> {
  const input = refsOf(record, at)
    .map(([ref, commit]) => `create ${ref} ${commit}\n`)
    .join('');
  await gitText(repository.git, [...FLUSHED, 'update-ref', '-m', 'agt: session', '--stdin'], { input });
}

/** Unless it is somewhere else by now. */
async function deleteRef(repository: Repository, [ref, commit]: NewRef): Promise<void> {
  await gitText(repository.git, [...FLUSHED, 'update-ref', '-d', ref, commit]);
}

async function addWorktree(repository: Repository, record: SessionRecord, wanted: NewSession): Promise<void> {
  dropUnfinishedWorktrees(repository.commonDir);
  const options = [
    wanted.checkOut ? '--checkout' : '--no-checkout',
    ...(wanted.showProgress ? [] : ['--quiet']),
  ];
  const workers = wanted.checkOut ? await checkoutWorkers(repository) : [];
  const tree = [record.sandbox, shortBranch(record.work_branch)];
  const args = [...workers, 'worktree', 'add', ...options, '--', ...tree];
  const run = await runGit(repository.git, args, { stderr: wanted.showProgress ? 'inherit' : 'pipe' });
  if (run.exitCode !== 0) {
    throw new AgtError(`git could not make the sandbox ${record.sandbox}`, {
      hints: run.stderr.split('\n').filter((line) => line !== ''),
      exitCode: 128,
    });
  }
}

/** Left alone, git writes one file after the other, and mostly waits for the disk. The user's own setting stands. */
async function checkoutWorkers({ git }: Repository): Promise<string[]> {
  const own = await gitAnswer(git, ['config', '--get', 'checkout.workers']);
  return own === undefined
    ? ['-c', `checkout.workers=${Math.max(FEWEST_WORKERS, availableParallelism())}`]
    : [];
}

const FEWEST_WORKERS = 4;
