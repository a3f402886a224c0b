/**
 * `agt session remove`: the last state is captured, then the sandbox goes. The branches stay, so that the session can
 * be brought back, unless --delete-branch. A removal that was interrupted is finished by the next one.
 */
import { existsSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { holdsFiles } from '../../disk/folder-entries.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError } from '../../errors.ts';
import { dropRegistration, registrationOf } from '../../git/files/worktree-registrations.ts';
import { gitText, resolveObject, runGit } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureSession } from '../capture-session.ts';
import { type LockedSession, withSessionLock } from '../lock.ts';
import { begin, complete } from '../operation.ts';
import { type SessionRecord, sessionFolder, tipRef } from '../record.ts';
import { sandboxExists, sandboxHead, uncommittedPaths } from '../sandbox.ts';
import { isActive } from '../state.ts';

export interface RemovalPlan {
  readonly record: SessionRecord;
  readonly folder: string | undefined;
  /** Whether its branches and states go too. */
  readonly deleteBranch: boolean;
  /** Refs that will be deleted, with where they point. */
  readonly refs: readonly { ref: string; commit: string }[];
  /** Why deleting the branches would lose work, one reason each. */
  readonly unsaved: readonly string[];
}

export async function planRemoval(
  repository: Repository,
  record: SessionRecord,
  deleteBranch: boolean,
): Promise<RemovalPlan> {
  const folder = sessionFolder(record);
  const plan = {
    record,
    folder: existsSync(folder) ? folder : undefined,
    deleteBranch,
    refs: [],
    unsaved: [],
  };
  if (!deleteBranch) return plan;
  return {
    ...plan,
    refs: await existingRefs(repository, record),
    unsaved: await unsavedWork(repository, record),
  };
}

async function existingRefs(
  repository: Repository,
  record: SessionRecord,
): Promise<{ ref: string; commit: string }[]> {
  const names = [record.work_branch, record.branch, tipRef(record.session_id)];
  const listed = await gitText(repository.git, [
    'for-each-ref',
    '--format=%(refname) %(objectname)',
    '--',
    ...names,
  ]);
  return listed
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([ref = '']) => names.includes(ref))
    .map(([ref = '', commit = '']) => ({ ref, commit }));
}

/** What would be reachable from nowhere: commits that are neither exported nor merged, files that are not committed. */
async function unsavedWork(repository: Repository, record: SessionRecord): Promise<string[]> {
  const reasons: string[] = [];
  if (sandboxExists(record)) {
    const dirty = await uncommittedPaths(repository, record);
    if (dirty.length > 0) reasons.push(`${count(dirty.length, 'file')} not committed`);
    const { commit } = await sandboxHead(repository, record);
    if (commit !== undefined) await collectUnmerged(repository, record, commit, 'HEAD', reasons);
  }
  const tip = await resolveObject(repository.git, record.work_branch);
  if (tip !== undefined && reasons.length === 0)
    await collectUnmerged(repository, record, tip, 'work branch', reasons);
  return reasons;
}

async function collectUnmerged(
  repository: Repository,
  record: SessionRecord,
  commit: string,
  what: string,
  reasons: string[],
): Promise<void> {
  const own = [record.work_branch, record.branch].map((ref) => `--exclude=${ref}`);
  const others = `--exclude=refs/heads/${repository.settings.branchPrefix}*`;
  const args = [
    'rev-list',
    '--count',
    commit,
    '--not',
    ...own,
    others,
    '--glob=refs/heads/*',
    '--remotes',
    '--tags',
    '--',
  ];
  const missing = Number(await gitText(repository.git, args));
  if (missing > 0) reasons.push(`${count(missing, 'commit')} on its ${what} neither exported nor merged`);
}

function count(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}

export interface RemovalOptions {
  /** Go on although something could not be captured. */
  readonly force: boolean;
  readonly now: Date;
}

export function removeSession(
  repository: Repository,
  plan: RemovalPlan,
  options: RemovalOptions,
): Promise<void> {
  return withSessionLock(repository, plan.record.session_id, (session) => remove(session, plan, options));
}

async function remove(session: LockedSession, plan: RemovalPlan, options: RemovalOptions): Promise<void> {
  const { repository } = session;
  const record = session.read() ?? plan.record;
  if (isActive(record)) {
    await captureLastTime(session, record, options);
    begin(session, record, { operation: 'remove' });
  }
  const registration = registrationOf(repository.commonDir, record.sandbox);
  // Twice: also a locked worktree goes, since agt's own record says that it is to go. One that is not registered any
  // more is no failure.
  await runGit(repository.git, ['worktree', 'remove', '--force', '--force', record.sandbox]);
  failurePoint('remove: worktree removed');
  removeTree(sessionFolder(record));
  // What git could not remove of it.
  if (registration !== undefined) dropRegistration(registration, record.sandbox);
  failurePoint('remove: folder removed');
  if (repository.area === undefined)
    removeWhileEmpty(dirname(sessionFolder(record)), dirname(dirname(sessionFolder(record))));
  // Killed after it deleted the branches, it was to forget the session.
  const hasForgotten = record.intent?.operation === 'remove' && !(await keepsSnapshots(repository, record));
  if (!plan.deleteBranch && !hasForgotten) {
    complete(session, record, 'remove', options.now);
    return;
  }
  const refs = await existingRefs(repository, record); // the last capture has moved them since the plan
  const input = refs.map(({ ref, commit }) => `delete ${ref} ${commit}\n`).join('');
  if (refs.length > 0) await gitText(repository.git, ['update-ref', '--stdin'], { input });
  failurePoint('remove: refs deleted');
  session.forget();
}

async function keepsSnapshots(repository: Repository, record: SessionRecord): Promise<boolean> {
  return (await existingRefs(repository, record)).some(({ ref }) => ref !== record.work_branch);
}

function cannotCapture(record: SessionRecord): AgtError {
  return new AgtError(
    `session "${record.session_id}" cannot be captured: its sandbox is no worktree any more`,
    {
      hints: [
        `its folder still holds files: ${sessionFolder(record)}`,
        'move them away or mend the sandbox (see: agt doctor), or remove the session and them with --force',
      ],
    },
  );
}

/** Beside an ordinary repository, agt leaves no empty folder behind. */
function removeWhileEmpty(...dirs: string[]): void {
  try {
    for (const dir of dirs) rmdirSync(dir);
  } catch {
    // other sessions live there
  }
}

/** @throws AgtError, nothing removed, when something in the folder would not survive. */
async function captureLastTime(
  session: LockedSession,
  record: SessionRecord,
  { force, now }: RemovalOptions,
): Promise<void> {
  if (!sandboxExists(record)) {
    if (!force && holdsFiles(sessionFolder(record))) throw cannotCapture(record);
    return;
  }
  const captured = await captureSession(session, record, { now, label: 'before remove' });
  const lost = [...captured.skipped, ...captured.failed];
  if (lost.length === 0 || force) return;
  throw new AgtError(
    `session "${record.session_id}" holds ${count(lost.length, 'file')} that cannot be captured`,
    {
      hints: [
        ...lost.slice(0, 10).map(({ path, reason }) => `${path}: ${reason}`),
        'move them away, or remove the session and them with --force',
      ],
    },
  );
}
