/**
 * Finds files that a killed agt, or a killed git, left behind: temporary files, and locks of processes that
 * have ended. git's own temporary files and locks do not name their process. Those count only if they are old
 * and no process has them open.
 */
import { existsSync, globSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isLocked } from '../../disk/lock.ts';
import {
  abandonedDirectories,
  dropOwned,
  isAlive,
  isLifeSign,
  lifeHasEnded,
  listLifeSigns,
  ownerHasEnded,
  ownerOf,
} from '../../disk/lock-owner.ts';
import { listProcesses, openFiles, type RunningProcess } from '../../disk/processes.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { STASHES, sessionNamespaces, stashRef, tipRef } from '../../filter/agent-refs.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { registrationOf, type WorktreeEntry } from '../../git/files/worktree-registrations.ts';
import { abandonedFiles } from '../../git/objects/fast-import-cleanup.ts';
import {
  locksDirectory,
  probesDirectory,
  STASH_DIRECTORIES,
  scratchDirectory,
  sessionFiles,
  sessionLockFile,
} from '../../layout.ts';
import { removeEmptyParents } from '../../lifecycle/delete-folder.ts';
import { aboutSetAside } from '../../lifecycle/in-place/set-aside.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import type { Repository } from '../../repository/repository.ts';
import { idProblem } from '../../session/id.ts';
import { withSessionLock } from '../../session/lock.ts';
import type { SessionRecord } from '../../session/record.ts';
import { dropUnfinishedWorktree, folderBeside } from '../../session/register-worktree.ts';
import { Session } from '../../session/session.ts';
import { isEnded, type SessionState } from '../../session/state.ts';
import { FIX, type Finding } from './finding.ts';

/** A file of git that names no process must be unchanged for this long. */
const OLD_MS = 10 * 60_000;

export async function findLeftovers(
  repository: Repository,
  records: readonly SessionRecord[],
  worktrees: readonly WorktreeEntry[],
  sessionsDir: string,
): Promise<Finding[]> {
  const { commonDir, agtDir } = repository;
  const isBusy = (await filterAsync(listLocks(agtDir), isLocked)).length > 0;
  return [
    ...(await staleLocks(agtDir)),
    ...abandonedByAgt(agtDir, records, isBusy).map((path) => leftover(path, OF_AGT)),
    // In another container the process ids in names mean nothing.
    ...(isBusy ? [] : namedByProcess(commonDir)).map((path) => leftover(path, NAMED)),
    ...abandonedByGit(commonDir, records).map((path) => leftover(path, OF_GIT)),
    ...abandonedDirectories(scratchDirectory(agtDir)).map((path) => leftover(path, SCRATCH)),
    ...abandonedDirectories(probesDirectory(agtDir, sessionsDir)).map((path) => leftover(path, PROBE)),
    ...(await abandonedWorktreeFolders(repository, records)),
    ...emptySessionsFolder(repository, records, worktrees, sessionsDir),
  ];
}

const OF_AGT = 'a temporary file of agt, whose process has ended';
const LIFE_SIGN = 'the mark of a process that has ended';
const NAMED = 'a temporary file, and the process that its name tells has ended';
const OF_GIT = 'git has left it: 10 minutes old, and no process has it open';
const UNFINISHED = 'a sandbox that agt had not finished when it was killed';
const SCRATCH = 'a killed agt left this directory; the next agt session diff deletes it';
const PROBE = 'a killed agt left this copy of a snapshot; the next agt bisect run deletes it';

export function leftover(
  path: string,
  problem: string,
  fix: () => unknown = () => removeTree(path),
): Finding {
  return { level: 'note', about: path, problem, mend: FIX, fix };
}

function listed(cwd: string, pattern: string): string[] {
  return globSync(pattern, { cwd }).map((path) => join(cwd, path));
}

function listLocks(agtDir: string): string[] {
  // Another agt may give a sign just now, so the names decide.
  return listed(locksDirectory(agtDir), '{*,.*}').filter(
    (path) => !/\/\.[^/]*\.tmp$/.test(path) && !isLifeSign(basename(path)),
  );
}

/** One for each process, which may have held several, with a life sign each. agt breaks a lock by itself when it needs it. */
async function staleLocks(agtDir: string): Promise<Finding[]> {
  const directory = locksDirectory(agtDir);
  const locks = await filterAsync(listLocks(agtDir), ownerHasEnded);
  const signs = await filterAsync(listLifeSigns(directory), (name) => lifeHasEnded(directory, name));
  const all = [...locks, ...signs.map((name) => join(directory, name))];
  return [...Map.groupBy(all, ownerOf).values()].map((paths) => {
    const [lock, ...others] = paths.filter((path) => !isLifeSign(basename(path)));
    const also =
      others.length === 0 ? '' : `, which also held ${others.map((path) => basename(path)).join(', ')}`;
    const problem = lock === undefined ? LIFE_SIGN : `a lock of a process that has ended${also}`;
    return leftover(lock ?? paths[0] ?? '', problem, async () => {
      for (const path of paths)
        if (isLifeSign(basename(path))) removeTree(path);
        else if (await ownerHasEnded(path)) dropOwned(path);
    });
  });
}

/** A temporary file belongs to the process in its name; without one, to the process that holds any lock. */
function abandonedByAgt(agtDir: string, records: readonly SessionRecord[], isBusy: boolean): string[] {
  // A session's own id may end so.
  const own = new Set(
    records.flatMap(({ session_id: id }) => [...sessionFiles(agtDir, id), sessionLockFile(agtDir, id)]),
  );
  return listed(agtDir, '{*,!(modules)/**/*,locks/.*,front/.*}.tmp').filter((path) => {
    if (own.has(path)) return false;
    const pid = /\.(\d+)\.tmp$/.exec(path)?.[1];
    return pid === undefined ? !isBusy : hasEnded(pid);
  });
}

async function filterAsync<T>(all: readonly T[], isWanted: (one: T) => Promise<boolean>): Promise<T[]> {
  const wanted = await Promise.all(all.map(isWanted));
  return all.filter((_, i) => wanted[i]);
}

/** Files in git's directories whose name has the id of the process that made them. */
const NAMED_BY_PROCESS = [
  /^fast_import_crash_(\d+)?/,
  /^index\.agt-(\d+).*\.tmp$/,
  /^agt-(?:import|shim)\..*?(\d+)?$/,
  /^agt-index-(\d+)?-/,
  new RegExp(`^${STASH_DIRECTORIES}.*?(\\d+)?$`),
];

function namedByProcess(commonDir: string): string[] {
  return listed(commonDir, '{.,worktrees/*}/*').filter((path) => {
    const found = NAMED_BY_PROCESS.map((name) => name.exec(basename(path))).find((match) => match !== null);
    return found !== undefined && hasEnded(found?.[1]);
  });
}

/** Also true for a name without a process id. */
function hasEnded(pid: string | undefined): boolean {
  return pid === undefined || !isAlive(Number(pid));
}

/** Locks of git on files that agt's commands change. */
const GIT_LOCKS = [
  '{config,packed-refs,HEAD,ORIG_HEAD}.lock',
  'refs/**/*.lock',
  'worktrees/*/{HEAD,ORIG_HEAD}.lock',
];

/** Temporary objects of git, its locks, and worktree registrations that it has emptied. */
function abandonedByGit(commonDir: string, records: readonly SessionRecord[]): string[] {
  const objects = join(commonDir, 'objects');
  const found = [
    ...(existsSync(objects) ? abandonedFiles(objects) : []),
    ...GIT_LOCKS.flatMap((pattern) => listed(commonDir, pattern)),
    ...records.flatMap((record) => indexLock(commonDir, record)),
    ...listed(commonDir, 'worktrees/*').filter(isEmptyRegistration),
  ].filter(isOld);
  if (found.length === 0) return [];
  const open = openFiles();
  return open === undefined ? [] : found.filter((path) => !open.has(path));
}

/** git does not keep this one open: `git commit -a` holds it while a person writes the message. */
function indexLock(commonDir: string, { sandbox }: SessionRecord): string[] {
  const gitDir = registrationOf(commonDir, sandbox);
  if (gitDir === undefined || !existsSync(join(gitDir, 'index.lock'))) return [];
  const isThere = ({ program, cwd }: RunningProcess) =>
    basename(program).startsWith('git') && (cwd === undefined || `${cwd}/`.startsWith(`${sandbox}/`));
  return listProcesses()?.some(isThere) === false ? [join(gitDir, 'index.lock')] : [];
}

function isOld(path: string): boolean {
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return changed !== undefined && Date.now() - changed > OLD_MS;
}

/** A removal that failed can leave this. git no longer lists the worktree, and nothing is staged in it. */
function isEmptyRegistration(path: string): boolean {
  return ['gitdir', 'HEAD', 'index'].every((name) => !existsSync(join(path, name)));
}

async function abandonedWorktreeFolders(
  repository: Repository,
  records: readonly SessionRecord[],
): Promise<Finding[]> {
  const present = records.filter((record) => existsSync(folderBeside(record)));
  const sessions = present.map((record) => new Session(repository, record));
  const isFree = async ({ id }: Session) => !(await isLocked(sessionLockFile(repository.agtDir, id)));
  const free = await filterAsync(sessions, isFree);
  return free.map((session) => {
    const fix = () => withSessionLock(session, () => dropUnfinishedWorktree(session));
    return leftover(folderBeside(session.record), UNFINISHED, fix);
  });
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
    !records.every(isEnded) ||
    worktrees.some(({ path }) => path.startsWith(`${sessionsDir}/`));
  if (isInUse || !existsSync(sessionsDir) || readdirSync(sessionsDir).length > 0) return [];
  const fix = () => removeEmptyParents(sessionsDir);
  const problem = 'an empty folder, and no session is left for it';
  return [{ ...leftover(sessionsDir, problem, fix), mend: `rmdir ${shellQuote(sessionsDir)}` }];
}

/** Also what is left of the folder of a removed session: files that no snapshot has. */
export function orphanFolders(
  sessionsDir: string,
  records: readonly { readonly sandbox: string; readonly state?: SessionState }[],
): Finding[] {
  const isGone = (state?: SessionState) => state !== undefined && isEnded({ state });
  const removed = new Map(records.map((one) => [basename(dirname(one.sandbox)), isGone(one.state)]));
  const names = existsSync(sessionsDir) ? readdirSync(sessionsDir) : [];
  return names
    .filter((name) => idProblem(name) === undefined && removed.get(name) !== false)
    .map((about) => {
      const what = removed.has(about)
        ? 'the session is removed, and yet there is'
        : 'a session folder without metadata:';
      const problem = `${what} ${join(sessionsDir, about)}`;
      return { level: 'warning', about, problem, mend: 'check what it contains, then move it away' };
    });
}

/** The user's own work of before a session, which was in the way of what the session brought. */
export function setAsideWork(records: readonly SessionRecord[], refs: ReadonlySet<string>): Finding[] {
  const going = records.filter((record) => !isEnded(record) && record.checkout !== undefined);
  const set = refs.difference(new Set(going.map(({ session_id: id }) => stashRef(id))));
  const problem = 'uncommitted work of yours from before this session is still set aside';
  return [...set]
    .filter((ref) => ref.startsWith(STASHES))
    .map((ref) => {
      const about = ref.slice(STASHES.length);
      return { level: 'warning', about, problem, mend: aboutSetAside(ref).join('; ') };
    });
}

export function orphanRefs(
  repository: Repository,
  records: readonly SessionRecord[],
  refs: ReadonlySet<string>,
): Finding[] {
  const known = records.flatMap((record) => [record.branch, record.work_branch, tipRef(record.session_id)]);
  const namespaces = sessionNamespaces(repository.prefixes);
  const orphans = [...refs.difference(new Set(known))].filter((ref) =>
    namespaces.some((namespace) => ref.startsWith(namespace)),
  );
  const problem = 'a ref in a namespace of agt that belongs to no session here';
  return orphans.map((ref) => {
    const mend = `keep it, or delete it: agt git update-ref -d ${ref}`;
    return { level: 'note', about: shortBranch(ref), problem, mend };
  });
}
