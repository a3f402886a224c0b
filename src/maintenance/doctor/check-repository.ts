/**
 * Checks whether metadata, refs, worktrees and folders agree. The checks change nothing. Each finding names the thing, the
 * problem, and the command that fixes it. A finding that needs no decision of a person also has a `fix`.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { prefixesInUse, prefixesLine, recordedPrefixes, recordPrefixes } from '../../config/prefixes.ts';
import { statOrUndefined } from '../../disk/read-file.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { shadowRef } from '../../filter/agent-refs.ts';
import { worktreeGitDir } from '../../git/files/discover-repository.ts';
import { REMOTES, shortBranch } from '../../git/files/ref-files.ts';
import {
  blockedWorktrees,
  brokenRegistrations,
  doubleRegistrations,
  listWorktrees,
  reconnect,
  registrationOf,
  type WorktreeEntry,
  worktreeOf,
  writeHead,
} from '../../git/files/worktree-registrations.ts';
import { gitText, runGit } from '../../git/run/git.ts';
import { areaConfigFile, prefixesFile } from '../../layout.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { hideAgentRefs, missingHideRefs } from '../../repository/hide-refs.ts';
import { folderOfNamespace, type Repository } from '../../repository/repository.ts';
import { unfinishedClone } from '../../repository/unfinished-clone.ts';
import { type DamagedRecord, isAttached, listRecords, type SessionRecord } from '../../session/record.ts';
import { renamedFolder } from '../../session/relocate.ts';
import { Session } from '../../session/session.ts';
import { isEnded } from '../../session/state.ts';
import { listUpstreamRecords } from '../../session/upstream-record.ts';
import { previewCapture } from '../../workspace/capture-session.ts';
import { excessOverBudget } from '../retention/budget.ts';
import { checkAccess } from './check-access.ts';
import { checkFrozen } from './check-leases.ts';
import { checkMounts } from './check-mounts.ts';
import { checkMessages, checkPulls, checkSession, checkUserBranches } from './check-session.ts';
import { FIX, type Finding, type Finishers, type Preview } from './finding.ts';
import { findLeftovers, leftover, orphanFolders, orphanRefs, setAsideWork } from './leftovers.ts';
import { unfinishedOperations } from './unfinished-operations.ts';

interface CheckOptions {
  /** Reads every snapshot as well, which takes long. */
  readonly histories?: boolean;
  /** A caller that needs the same ones has read them. */
  readonly preview?: Preview | undefined;
}

export async function checkRepository(
  repository: Repository,
  finishers: Finishers,
  { histories = false, preview }: CheckOptions = {},
): Promise<Finding[]> {
  const folder = folderOfNamespace(repository.commonDir);
  if (folder !== undefined) return [describeNamespace(folder)];
  const broken = [
    ...blockedWorktrees(repository.commonDir).map((path) => describeBlockedWorktree(repository, path)),
    ...brokenRegistrations(repository.commonDir, 'unfinished').map(describeUnfinishedWorktree),
    ...brokenRegistrations(repository.commonDir, 'cutOff').map(describeCutOffWorktree),
  ];
  const { records, damaged } = listRecords(repository);
  // With such a registration git can refuse every other question.
  if (broken.length > 0) return [...broken, ...(await unfinishedOperations(repository, records, finishers))];
  const upstream = listUpstreamRecords(repository);
  const worktrees = await listWorktrees(repository.git);
  const refs = new Set((await gitText(repository.git, ['for-each-ref', '--format=%(refname)'])).split('\n'));
  const sessionsDir = await repository.sessionsDir();
  const atPlaceNow = (record: SessionRecord) => {
    const renamed = renamedFolder(new Session(repository, record), sessionsDir);
    return renamed === undefined ? record : { ...record, sandbox: join(renamed, 'sandbox') };
  };
  const access = checkAccess(repository, sessionsDir);
  const previewNow: Preview = (record) =>
    previewCapture(new Session(repository, record), { now: new Date() });
  const known = { worktrees, refs, finishers, preview: preview ?? previewNow };
  const ofSessions: Finding[] = [];
  for (const session of records.map((record) => new Session(repository, record))) {
    ofSessions.push(...(await checkSession(session, known)));
    if (histories) ofSessions.push(...(await checkMessages(session)));
  }
  return [
    ...(await checkClone(repository)),
    ...access,
    ...(access.length > 0 ? [] : await checkBudget(repository)),
    ...damaged.map((record) => describeDamaged(repository, record)),
    ...ofSessions,
    ...checkUserBranches(records, refs),
    ...checkPulls(repository),
    ...orphanFolders(sessionsDir, [...records.map(atPlaceNow), ...upstream]),
    ...orphanRefs(repository, records, refs.difference(new Set(upstream.map(({ branch }) => branch)))),
    ...setAsideWork(records, refs),
    ...worktrees.flatMap((worktree) => [
      ...checkRegistration(repository, worktree, records, sessionsDir),
      ...checkConfigInWorktree(worktree),
    ]),
    ...brokenRegistrations(repository.commonDir, 'unlinked').map(describeWithoutLink),
    ...doubleRegistrations(repository.commonDir).map(describeDouble),
    ...(await findLeftovers(repository, records, worktrees, sessionsDir)),
    ...(await checkFrozen(repository, records)),
    ...checkMounts(repository, refs),
    ...checkPrefixes(repository),
    ...(records.some((record) => !isAttached(record)) ? await checkHideRefs(repository) : []),
  ];
}

export interface FixResult {
  readonly finding: Finding;
  /** Why the fix failed; undefined if it did not. */
  readonly failure: string | undefined;
  /** Where work is now. */
  readonly note: string | undefined;
}

/**
 * A half-registered worktree hides everything else, a lock file can make a fix fail, an unfinished operation
 * hides the rest of its session: one round each, and one more.
 */
const MOST_ROUNDS = 4;

/** `agt doctor --fix`: fixes what needs no decision. Problems hide each other, so it checks again. */
export async function fixAll(repository: Repository, finishers: Finishers): Promise<FixResult[]> {
  const results = new Map<string, FixResult>();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const findings = (await checkRepository(repository, finishers)).filter((finding) => finding.fix);
    // A note can be a leftover, such as git's lock on a ref, that blocks the fix of an error.
    findings.sort((a, b) => Number(b.level === 'note') - Number(a.level === 'note'));
    let hasFixed = false;
    for (const finding of findings) {
      const key = `${finding.about}\0${finding.problem}`;
      const earlier = results.get(key);
      if (earlier !== undefined && earlier.failure === undefined) continue;
      const result = await tryToFix(finding);
      results.set(key, result);
      hasFixed ||= result.failure === undefined;
    }
    if (!hasFixed) break;
  }
  return [...results.values()];
}

export async function tryToFix(finding: Finding): Promise<FixResult> {
  try {
    const said = await finding.fix?.();
    return { finding, failure: undefined, note: typeof said === 'string' ? said : undefined };
  } catch (error) {
    return { finding, failure: (error as Error).message, note: undefined };
  }
}

/** There, the links of all other sandboxes lead elsewhere. */
function describeNamespace(folder: string): Finding {
  const problem = 'agt checks no sessions from inside of a command that runs at your own path';
  return { level: 'note', about: basename(folder), problem, mend: 'call agt doctor outside of it' };
}

async function checkBudget(repository: Repository): Promise<Finding[]> {
  const excess = await excessOverBudget(repository);
  if (excess === undefined) return [];
  return [{ level: 'error', about: 'agt.budget', problem: excess.problem, mend: excess.ways.join('; ') }];
}

async function checkClone({ commonDir }: Repository): Promise<Finding[]> {
  const clone = await unfinishedClone(commonDir);
  if (clone === undefined || clone.running) return [];
  const mend = `agt clone ${shellQuote(clone.url)} --path ${shellQuote(dirname(commonDir))}`;
  return [{ level: 'error', about: commonDir, problem: 'agt did not finish cloning it', mend }];
}

function describeUnfinishedWorktree(path: string): Finding {
  const problem =
    'a killed git left this worktree half registered, and other git commands fail because of it';
  return { ...leftover(path, problem), level: 'error' };
}

/** For a sandbox: the capture and the restore that come after tell what HEAD was. */
function describeBlockedWorktree(repository: Repository, path: string): Finding {
  const head = join(path, 'HEAD');
  const problem =
    'this HEAD of a worktree is no regular file, and other git commands wait for ever to read it';
  const record = listRecords(repository).records.find(
    ({ sandbox }) => registrationOf(repository.commonDir, sandbox) === path,
  );
  const branch = record?.work_branch ?? 'refs/heads/BRANCH';
  const mend = `rm ${shellQuote(head)} && echo ref: ${branch} > ${shellQuote(head)}`;
  const finding: Finding = { level: 'error', about: head, problem, mend };
  return record === undefined ? finding : { ...finding, fix: () => writeHead(path, `ref: ${branch}`) };
}

function describeCutOffWorktree(path: string): Finding {
  const problem =
    'the commondir of this worktree is empty, probably after a power cut, and other git commands fail because of it';
  const mend = `echo ../.. > ${shellQuote(join(path, 'commondir'))}`;
  return { level: 'error', about: path, problem, mend, fix: () => reconnect(path) };
}

function describeDamaged(repository: Repository, { session_id: id, problem }: DamagedRecord): Finding {
  if (listUpstreamRecords(repository).some(({ session_id }) => session_id === id))
    return { level: 'warning', about: id, problem, mend: `agt session adopt ${id}` };
  const branch = shortBranch(shadowRef(repository.settings, id));
  const mend = `restore the file, or delete it: the snapshots stay on ${branch}`;
  return { level: 'error', about: id, problem, mend };
}

function checkRegistration(
  repository: Repository,
  { path, prunable }: WorktreeEntry,
  records: readonly SessionRecord[],
  sessionsDir: string,
): Finding[] {
  // A prune would delete what is staged in a session: check-sandbox.ts says how to connect it again.
  // In a copy it may be on the way to its place there.
  const usual = (id: string) => join(sessionsDir, id, 'sandbox');
  const isOf = ({ sandbox, session_id: id }: SessionRecord) => [sandbox, usual(id)].includes(path);
  if (prunable === undefined || records.some((one) => !isEnded(one) && isOf(one))) return [];
  const moved = movedWorktree(repository, path);
  if (moved !== undefined) {
    const fix = async () => void (await gitText(repository.git, ['worktree', 'repair', moved]));
    const mend = `agt git worktree repair ${shellQuote(moved)}`;
    return [{ level: 'error', about: path, problem: `this worktree has moved to ${moved}`, mend, fix }];
  }
  const isInSessions = path.startsWith(`${sessionsDir}/`);
  // With the registration, git deletes the index: what is staged may be nowhere else.
  const prune = 'agt git worktree prune';
  const registration = registrationOf(repository.commonDir, path);
  const hasIndex = registration !== undefined && existsSync(join(registration, 'index'));
  // An earlier fix can have removed it already, so the exit code does not matter.
  const fix = () => runGit(repository.git, ['worktree', 'remove', '--force', '--force', path]);
  const problem = `git would prune this worktree: ${prunable}`;
  const finding = { level: 'note', about: path, problem } as const;
  if (isInSessions) return [{ ...finding, mend: prune, fix }];
  const mend = `if it has moved: agt git worktree repair NEW-PLACE; if it is gone: ${prune}`;
  return [{ ...finding, mend: hasIndex ? mend : prune }];
}

/** Where a worktree of an agt clone is, if its area was moved with it: its `.git` file leads to the old place. */
function movedWorktree({ commonDir, area }: Repository, path: string): string | undefined {
  const registration = registrationOf(commonDir, path);
  if (area === undefined || registration === undefined) return undefined;
  const place = join(area, basename(path));
  const named = worktreeGitDir(place);
  const isIt = named !== undefined && basename(named) === basename(registration) && !existsSync(named);
  return isIt ? place : undefined;
}

function describeDouble(path: string): Finding {
  const problem = `git lists ${worktreeOf(path)} twice: its .git file names another registration`;
  const fix = () => removeTree(path);
  return { level: 'error', about: path, problem, mend: FIX, fix };
}

function describeWithoutLink(path: string): Finding {
  const problem = 'git would prune this worktree: its gitdir file is gone';
  const finding: Finding = { level: 'note', about: path, problem, mend: 'agt git worktree prune' };
  // Its index may name staged content that is nowhere else.
  return existsSync(join(path, 'index')) ? finding : { ...finding, fix: () => removeTree(path) };
}

function checkConfigInWorktree(worktree: WorktreeEntry): Finding[] {
  const file = areaConfigFile(worktree.path);
  if (worktree.bare || statOrUndefined(file)?.isFile() !== true) return []; // a mount may not answer
  const problem = 'agt ignores this file: a configuration file in a worktree can come from other people';
  return [{ level: 'note', about: file, problem, mend: 'set what you want with: agt config set' }];
}

/** Git mode learns the prefixes of sessions from a note, and reads metadata only if the settings tell it to. */
function checkPrefixes({ agtDir, settings }: Repository): Finding[] {
  const known = prefixesInUse(agtDir, settings).map(prefixesLine);
  const unknown = new Set(recordedPrefixes(agtDir).map(prefixesLine)).difference(new Set(known));
  if (unknown.size === 0) return [];
  const problem = `git mode shows and pushes branches of sessions, because this file does not name their prefixes: ${[...unknown].join(', ')}`;
  const fix = () => recordPrefixes(agtDir, settings);
  return [{ level: 'error', about: prefixesFile(agtDir), problem, mend: FIX, fix }];
}

async function checkHideRefs(repository: Repository): Promise<Finding[]> {
  const { git, prefixes } = repository;
  const unnamed = await missingHideRefs(git, prefixes);
  // A remote that nobody has exported to has none yet; an export hides them first.
  const isEmpty = async (name: string) =>
    name.startsWith(REMOTES) && (await gitText(git, ['for-each-ref', '--count=1', `${name}/`])) === '';
  const empty = await Promise.all(unnamed.map(isEmpty));
  const missing = unnamed.filter((_, i) => !empty[i]);
  if (missing.length === 0) return [];
  const shown = missing.filter((name) => !name.startsWith('!'));
  const problem =
    shown.length > 0
      ? `a fetch from this repository would receive ${shown.join(', ')}`
      : 'nobody can fetch a session that was pushed to this repository';
  const mend = missing
    .map((name) => `agt git config --add uploadpack.hideRefs ${shellQuote(name)}`)
    .join(' && ');
  const fix = () => hideAgentRefs(repository);
  return [{ level: 'warning', about: 'uploadpack.hideRefs', problem, mend, fix }];
}
