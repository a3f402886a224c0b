/** Makes the sandbox of a session a worktree again, with a new registration. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { failurePoint } from '../disk/failure-point.ts';
import { holdsFiles } from '../disk/folder-entries.ts';
import { listProcesses } from '../disk/processes.ts';
import { removeOnly } from '../disk/remove-tree.ts';
import { AgtError } from '../errors.ts';
import { worktreeGitDir } from '../git/files/discover-repository.ts';
import {
  branchUser,
  dropRegistration,
  leadTo,
  registrationOf,
  worktreeText,
} from '../git/files/worktree-registrations.ts';
import { gitText, resolveObject, runGit } from '../git/run/git.ts';
import { withUsersPrograms } from '../git/run/programs.ts';
import { type SessionRecord, sessionFolder } from './record.ts';
import { type Session, startCommit } from './session.ts';

/**
 * git adds no worktree in a directory that has files. So agt adds one beside it, lets it lead to the sandbox, and moves its
 * `.git` file there.
 */
export async function registerWorktree(session: Session): Promise<void> {
  const { repository, record } = session;
  const { git } = repository;
  const temporary = temporaryWorktree(record);
  const gitFile = join(record.sandbox, '.git');
  const commit = await startCommit(session);
  await worktreeText(git, ['worktree', 'add', '--detach', '--no-checkout', '--', temporary, commit]);
  failurePoint('worktree: added beside');
  rmSync(gitFile, { force: true });
  leadTo(worktreeGitDir(temporary) ?? '', gitFile);
  failurePoint('worktree: led to the sandbox');
  renameSync(join(temporary, '.git'), gitFile);
  failurePoint('worktree: moved');
  removeBeside(record);
}

/** Removes a worktree that agt was killed beside. @throws AgtError if the git that adds it does not end */
export async function dropUnfinishedWorktree({ record, repository: { commonDir } }: Session): Promise<void> {
  const beside = folderBeside(record);
  if (!existsSync(beside)) return;
  const temporary = temporaryWorktree(record);
  for (const end = Date.now() + LONGEST_WAIT_MS; isInUse(record); await sleep(PAUSE_MS))
    if (Date.now() > end) throw new AgtError(`a git still adds the worktree ${temporary}; try again later`);
  const registration = registrationOf(commonDir, temporary);
  if (registration !== undefined) dropRegistration(registration, temporary);
  removeBeside(record);
}

/** A file that is not git's is somebody's, and stays. */
function removeBeside(record: SessionRecord): void {
  removeOnly(folderBeside(record), (path) => path === 'sandbox/.git');
}

const LONGEST_WAIT_MS = 10_000;
const PAUSE_MS = 20;

/** Also true where the system does not say which processes run. */
function isInUse(record: SessionRecord): boolean {
  const end = temporaryWorktree(record).slice(dirname(sessionFolder(record)).length);
  return listProcesses()?.some(({ words }) => words.some((word) => word.endsWith(end))) !== false;
}

function temporaryWorktree(record: SessionRecord): string {
  return join(folderBeside(record), 'sandbox');
}

/** It is there only while the sandbox becomes a worktree. */
export function folderBeside(record: SessionRecord): string {
  return join(sessionFolder(record), '.agt-worktree');
}

/** For a session without snapshots: HEAD on the work branch, and its files in the index. */
export async function reconnectToWorkBranch(session: Session): Promise<void> {
  const { record } = session;
  await dropUnfinishedWorktree(session);
  if (!holdsFiles(record.sandbox)) return makeAgain(session);
  await registerWorktree(session);
  await putOnWorkBranch(session);
}

/** git may still have HEAD and index. */
async function makeAgain(session: Session): Promise<void> {
  const { sandbox } = session.record;
  mkdirSync(sandbox, { recursive: true });
  await runGit(session.git, ['worktree', 'repair', sandbox]);
  if (session.look() !== 'here') {
    await registerWorktree(session);
    await putOnWorkBranch(session);
  }
  await gitText(withUsersPrograms(session.sandboxGit), ['checkout-index', '--all', '-u']);
}

export async function putOnWorkBranch({ record, sandboxGit: git }: Session): Promise<void> {
  const tip = await resolveObject(git, `${record.work_branch}^{commit}`);
  const isFree = (await branchUser(git, record.work_branch, record.sandbox)) === undefined;
  if (tip !== undefined && isFree) await gitText(git, ['symbolic-ref', 'HEAD', record.work_branch]);
  await gitText(git, ['read-tree', 'HEAD']);
}
