/**
 * Files that a killed agt, or a killed git of agt's, leaves behind: temporary names, locks of processes that are gone.
 * Where the owner is not known (git's own temporary files and locks) a file counts only once it is open nowhere and old.
 */

import { existsSync, globSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isLocked, ownerIsGone } from '../../disk/lock.ts';
import { openFiles } from '../../disk/open-files.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { errorCode } from '../../errors.ts';
import type { WorktreeEntry } from '../../git/files/worktree-registrations.ts';
import { abandonedFiles } from '../../git/objects/fast-import-cleanup.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { locksDirectory } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { isRemoved } from '../../session/state.ts';
import type { Finding } from './finding.ts';

/** How long a file of git's whose owner is not known has to lie there untouched. */
const OLD_MS = 10 * 60_000;

export function findLeftovers(
  repository: Repository,
  records: readonly SessionRecord[],
  worktrees: readonly WorktreeEntry[],
  sessionsDir: string,
): Finding[] {
  const { commonDir, agtDir } = repository;
  const locks = locksDirectory(agtDir);
  const stale = listed(locks, '{*,.*}')
    .filter((path) => !path.endsWith('.tmp'))
    .filter((path) => ownerIsGone(path))
    .map((path) => leftover(path, 'a lock whose process is gone'));
  const unfinished = [
    ...listed(agtDir, '{**/*,locks/.*}.tmp').filter((path) => isAbandoned(path, locks)),
    ...listed(commonDir, '{.,worktrees/*}/fast_import_crash_*').filter((path) =>
      isGone(basename(path).split('_').at(-1)),
    ),
    ...listed(commonDir, 'worktrees/*/index.agt-*.tmp').filter((path) => isGone(/agt-(\d+)/.exec(path)?.[1])),
    ...listed(commonDir, '{.,worktrees/*}/agt-decorations.*').filter((path) =>
      isGone(path.split('.').at(-1)),
    ),
    ...listed(commonDir, 'worktrees/*/agt-index-*').filter((path) =>
      isGone(/agt-index-(\d+)-/.exec(path)?.[1]),
    ),
    ...records
      .map((record) => join(sessionFolder(record), '.agt-worktree'))
      .filter((path) => existsSync(path) && !isLocked(join(locks, basename(dirname(path))))),
    ...abandonedByGit(commonDir),
  ].map((path) => leftover(path, 'left by a process that was killed'));
  return [...stale, ...unfinished, ...emptySessions(repository, records, worktrees, sessionsDir)];
}

function leftover(path: string, problem: string): Finding {
  const mend = `rm -rf ${shellQuote(path)}`;
  return { level: 'note', about: path, problem, mend, fix: () => removeTree(path) };
}

function listed(cwd: string, pattern: string): string[] {
  return globSync(pattern, { cwd }).map((path) => join(cwd, path));
}

/** A temporary name belongs to the process that it names, or to the holder of the session's lock. */
function isAbandoned(path: string, locks: string): boolean {
  const pid = /\.(\d+)\.tmp$/.exec(path)?.[1];
  return pid === undefined ? !anyLocked(locks) : isGone(pid);
}

function anyLocked(locks: string): boolean {
  return listed(locks, '{*,.*}').some((path) => !path.endsWith('.tmp') && isLocked(path));
}

function isGone(pid: string | undefined): boolean {
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return errorCode(error) !== 'EPERM'; // somebody else's
  }
}

/**
 * git's temporary objects, registrations that it emptied, and its locks on what agt's commands change: never an index, which
 * an agent's git may have.
 */
function abandonedByGit(commonDir: string): string[] {
  const objects = join(commonDir, 'objects');
  const patterns = ['{config,packed-refs,HEAD}.lock', 'refs/**/*.lock', 'worktrees/*/HEAD.lock'];
  const found = [
    ...(existsSync(objects) ? abandonedFiles(objects) : []),
    ...patterns.flatMap((pattern) => listed(commonDir, pattern)),
    ...listed(commonDir, 'worktrees/*').filter(isEmptyRegistration),
  ].filter(
    (path) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > OLD_MS,
  );
  if (found.length === 0) return [];
  const open = openFiles();
  return open === undefined ? [] : found.filter((path) => !open.has(path));
}

/** What a removal that failed left of a worktree's: git lists none there any more, and nothing is staged in it. */
function isEmptyRegistration(path: string): boolean {
  return ['gitdir', 'HEAD', 'index'].every((name) => !existsSync(join(path, name)));
}

/** Beside an ordinary repository, agt leaves no empty folder behind. */
function emptySessions(
  repository: Repository,
  records: readonly SessionRecord[],
  worktrees: readonly WorktreeEntry[],
  sessionsDir: string,
): Finding[] {
  if (repository.area !== undefined || !existsSync(sessionsDir) || readdirSync(sessionsDir).length > 0)
    return [];
  if (!records.every(isRemoved)) return [];
  if (worktrees.some(({ path }) => path.startsWith(`${sessionsDir}/`))) return [];
  const fix = () => {
    rmdirSync(sessionsDir);
    if (readdirSync(dirname(sessionsDir)).length === 0) rmdirSync(dirname(sessionsDir));
  };
  const mend = `rmdir ${shellQuote(sessionsDir)}`;
  return [{ level: 'note', about: sessionsDir, problem: 'an empty folder', mend, fix }];
}
