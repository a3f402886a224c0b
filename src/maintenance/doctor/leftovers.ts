/**
 * Finds files that a killed agt, or a killed git, left behind: temporary files, and locks of processes that
 * have ended. git's own temporary files and locks do not name their process. Those count only if they are old
 * and no process has them open.
 */

import { existsSync, globSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isLocked, ownerIsGone } from '../../disk/lock.ts';
import { openFiles } from '../../disk/processes.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { errorCode } from '../../errors.ts';
import type { WorktreeEntry } from '../../git/files/worktree-registrations.ts';
import { abandonedFiles } from '../../git/objects/fast-import-cleanup.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { locksDirectory, sessionLockFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { withSessionLock } from '../../session/lock.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { isRemoved } from '../../session/state.ts';
import type { Finding } from './finding.ts';

/** A file of git that names no process must be unchanged for this long. */
const OLD_MS = 10 * 60_000;

export function findLeftovers(
  repository: Repository,
  records: readonly SessionRecord[],
  worktrees: readonly WorktreeEntry[],
  sessionsDir: string,
): Finding[] {
  const { commonDir, agtDir } = repository;
  const killed = [...abandonedByAgt(agtDir), ...namedByProcess(commonDir), ...abandonedByGit(commonDir)];
  return [
    ...staleLocks(agtDir),
    ...killed.map((path) => leftover(path, LEFT_BY_KILLED)),
    ...abandonedWorktreeFolders(repository, records),
    ...emptySessionsFolder(repository, records, worktrees, sessionsDir),
  ];
}

const LEFT_BY_KILLED = 'a killed process left this';

function leftover(path: string, problem: string, fix: () => unknown = () => removeTree(path)): Finding {
  return { level: 'note', about: path, problem, mend: `rm -rf ${shellQuote(path)}`, fix };
}

function listed(cwd: string, pattern: string): string[] {
  return globSync(pattern, { cwd }).map((path) => join(cwd, path));
}

function listLocks(agtDir: string): string[] {
  return listed(locksDirectory(agtDir), '{*,.*}').filter((path) => !path.endsWith('.tmp'));
}

/** agt breaks such a lock by itself when it needs the lock. */
function staleLocks(agtDir: string): Finding[] {
  return listLocks(agtDir)
    .filter(ownerIsGone)
    .map((path) =>
      leftover(path, 'a lock of a process that has ended', () => ownerIsGone(path) && removeTree(path)),
    );
}

/** A temporary file belongs to the process in its name; without one, to the process that holds any lock. */
function abandonedByAgt(agtDir: string): string[] {
  const isFree = !listLocks(agtDir).some(isLocked);
  return listed(agtDir, '{**/*,locks/.*}.tmp').filter((path) => {
    const pid = /\.(\d+)\.tmp$/.exec(path)?.[1];
    return pid === undefined ? isFree : hasEnded(pid);
  });
}

/** Files in git's directories whose name ends in, or contains, the id of the process that made them. */
const NAMED_BY_PROCESS: readonly (readonly [glob: string, pid: RegExp])[] = [
  ['{.,worktrees/*}/fast_import_crash_*', /_(\d+)$/],
  ['worktrees/*/index.agt-*.tmp', /agt-(\d+)/],
  ['{.,worktrees/*}/agt-import.*', /\.(\d+)$/],
  ['{.,worktrees/*}/agt-shim.*', /\.(\d+)$/],
  ['worktrees/*/agt-index-*', /agt-index-(\d+)-/],
];

function namedByProcess(commonDir: string): string[] {
  return NAMED_BY_PROCESS.flatMap(([glob, pid]) =>
    listed(commonDir, glob).filter((path) => hasEnded(pid.exec(path)?.[1])),
  );
}

/** Also true for a name without a process id. */
function hasEnded(pid: string | undefined): boolean {
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return errorCode(error) !== 'EPERM'; // a process of another user
  }
}

/** Locks of git on files that agt's commands change. Not an index: the agent's own git may hold that lock. */
const GIT_LOCKS = ['{config,packed-refs,HEAD}.lock', 'refs/**/*.lock', 'worktrees/*/HEAD.lock'];

/** Temporary objects of git, its locks, and worktree registrations that it has emptied. */
function abandonedByGit(commonDir: string): string[] {
  const objects = join(commonDir, 'objects');
  const found = [
    ...(existsSync(objects) ? abandonedFiles(objects) : []),
    ...GIT_LOCKS.flatMap((pattern) => listed(commonDir, pattern)),
    ...listed(commonDir, 'worktrees/*').filter(isEmptyRegistration),
  ].filter(isOld);
  if (found.length === 0) return [];
  const open = openFiles();
  return open === undefined ? [] : found.filter((path) => !open.has(path));
}

function isOld(path: string): boolean {
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return changed !== undefined && Date.now() - changed > OLD_MS;
}

/** A removal that failed can leave this. git no longer lists the worktree, and nothing is staged in it. */
function isEmptyRegistration(path: string): boolean {
  return ['gitdir', 'HEAD', 'index'].every((name) => !existsSync(join(path, name)));
}

/** A restore makes this folder while it recreates the sandbox. */
function abandonedWorktreeFolders(repository: Repository, records: readonly SessionRecord[]): Finding[] {
  return records
    .map((record) => ({ id: record.session_id, path: join(sessionFolder(record), '.agt-worktree') }))
    .filter(({ id, path }) => existsSync(path) && !isLocked(sessionLockFile(repository.agtDir, id)))
    .map(({ id, path }) =>
      leftover(path, LEFT_BY_KILLED, () => withSessionLock(repository, id, async () => removeTree(path))),
    );
}

/** Beside an ordinary repository agt leaves no empty folder. */
function emptySessionsFolder(
  repository: Repository,
  records: readonly SessionRecord[],
  worktrees: readonly WorktreeEntry[],
  sessionsDir: string,
): Finding[] {
  const isInUse =
    repository.area !== undefined ||
    !records.every(isRemoved) ||
    worktrees.some(({ path }) => path.startsWith(`${sessionsDir}/`));
  if (isInUse || !existsSync(sessionsDir) || readdirSync(sessionsDir).length > 0) return [];
  const fix = () => {
    rmdirSync(sessionsDir);
    if (readdirSync(dirname(sessionsDir)).length === 0) rmdirSync(dirname(sessionsDir));
  };
  const mend = `rmdir ${shellQuote(sessionsDir)}`;
  return [{ level: 'note', about: sessionsDir, problem: 'an empty folder', mend, fix }];
}
