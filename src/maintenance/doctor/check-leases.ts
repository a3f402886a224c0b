/**
 * Folders of providers that no session uses: those of repositories that somebody has deleted, and what a killed agt left
 * half made. The leases name them, wherever they are.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked } from '../../disk/lock.ts';
import { readJson } from '../../disk/read-file.ts';
import { stateHome } from '../../disk/state-home.ts';
import { readSessionFile } from '../../filter/session-file.ts';
import { agtDirectory, frozenDirectory, sessionLockFile, templateFiles } from '../../layout.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { endFolder, leftFolders } from '../../providers/agentfs/probe.ts';
import { storeOf } from '../../providers/agentfs/provider.ts';
import { providerOf } from '../../providers/choose.ts';
import {
  carriesNonce,
  endLease,
  frozenName,
  type Lease,
  listLeases,
  makingPath,
  PROVIDER_KINDS,
  parseToken,
  tokenText,
} from '../../providers/token.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionRecord } from '../../session/record.ts';
import { listMoments } from '../../workspace/moments.ts';
import { FIX, type Finding } from './finding.ts';

/** One that another agt may be making is younger. */
const OLD_MS = 10 * 60_000;

export async function checkLeases(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const state = stateHome(env);
  if (state === undefined) return [];
  const measuring = leftFolders(state).map((about): Finding => {
    const problem = 'a killed agt has left this folder, in which it measured agentfs';
    return { level: 'note', about, problem, mend: FIX, fix: () => endFolder(about) };
  });
  const leases = await Array.fromAsync(listLeases(state), (lease) => checkLease(state, lease));
  return [...measuring, ...leases.filter((finding) => finding !== undefined)];
}

async function checkLease(state: string, lease: Lease): Promise<Finding | undefined> {
  const { token, session, repository } = lease;
  const { path: about, kind } = token;
  const end = () => endLease(state, token);
  const provider = providerOf(kind);
  const remove = async () => {
    if (await provider.remove(token)) end();
  };
  const note = { level: 'note', about, mend: FIX } as const;
  const [isHalf, isWhole] = [makingPath(token), about].map(
    (path) => provider.holds?.(path, token) ?? (existsSync(path) && carriesNonce(path, token)),
  );
  // Undefined also where that file system is not there any more.
  const dataset = isHalf || isWhole ? undefined : await provider.unmounted?.(token).catch(() => undefined);
  if (dataset !== undefined) {
    const problem = `the ${kind} dataset ${dataset} is not mounted there`;
    return { level: 'warning', about, problem, mend: `zfs mount ${shellQuote(dataset)}` };
  }
  const hasRepository = existsSync(repository);
  if (hasRepository && (await isInUse(lease))) return undefined;
  const isMounted = provider.isMounted?.(token) === true;
  const unfinished = 'a killed agt did not finish this folder';
  if (!isWhole && isHalf) return { ...note, about: makingPath(token), problem: unfinished, fix: remove };
  if (!isWhole)
    return isMounted
      ? { ...note, problem: 'a mount of a session whose files are gone', fix: remove }
      : { ...note, problem: 'agt holds a lease of a folder that is gone', fix: end };
  const frozen = frozenName(about);
  if (frozen !== undefined && provider.isUsed?.(token)) return undefined;
  const folder = join(about, '../../sessions', session ?? '');
  // Without the repository it may have the only copy of a snapshot, until somebody has deleted the session folder, too.
  const isLastCopy = frozen?.isMoment === true && !hasRepository && existsSync(folder);
  if (frozen !== undefined && !isLastCopy)
    return { ...note, problem: `nobody uses this ${kind} ${frozen.what} any more`, fix: remove };
  if (hasRepository) return undefined; // agt doctor names the folder there, with what it holds
  const gone = `of session "${session}", whose repository ${repository} is gone`;
  if (isLastCopy)
    return { ...note, problem: `a ${kind} frozen moment ${gone}`, mend: `it goes with ${folder}` };
  const unmount = isMounted ? `umount ${shellQuote(about)} && ` : '';
  const paths = [about, ...(kind === 'agentfs' ? [storeOf(about, token)] : [])].map(shellQuote);
  const mend = `check what it contains, then: ${unmount}rm -rf ${paths.join(' ')}`;
  return { ...note, problem: `a ${kind} folder ${gone}`, mend };
}

/** Templates and moments that a repository took along when it was moved, or that nobody knows for another reason. */
export async function checkFrozen(
  { sessionsDir, agtDir }: Repository,
  records: readonly SessionRecord[],
): Promise<Finding[]> {
  const directory = frozenDirectory(await sessionsDir());
  const moments = records.flatMap((record) => listMoments(agtDir, record).map(({ token }) => token.nonce));
  const own = [parseToken(templateToken(agtDir))?.nonce, ...moments];
  const found = PROVIDER_KINDS.flatMap((kind) => providerOf(kind).walk(directory));
  return found.flatMap((token) => {
    const { kind, path: about, nonce } = token;
    const frozen = frozenName(about);
    if (frozen === undefined || own.includes(nonce) || Date.now() - statSync(about).ctimeMs < OLD_MS)
      return [];
    const problem = `this ${kind} ${frozen.what} is not one of the repository`;
    return [{ level: 'note', about, problem, mend: FIX, fix: () => providerOf(kind).remove(token) }];
  });
}

function templateToken(agtDir: string): string | undefined {
  return (readJson(templateFiles(agtDir).record) as { token?: string } | undefined)?.token;
}

/** Whether a session or the repository names it, or another agt may be at work on it. */
async function isInUse({ token, session, repository, made }: Lease): Promise<boolean> {
  const agtDir = agtDirectory(repository);
  const text = tokenText(token);
  if (templateToken(agtDir) === text) return true;
  if (session === undefined) return Date.now() - Date.parse(made) < OLD_MS;
  if (await isLocked(sessionLockFile(agtDir, session))) return true;
  const record = readSessionFile(agtDir, session);
  const isEnded =
    record === undefined || !['creating', 'active', 'failed', 'removing'].includes(record.state);
  if (isEnded) return false;
  const moments = listMoments(agtDir, { session_id: session, sandbox: record.sandbox });
  const isMoment = moments.some((one) => one.token.nonce === token.nonce && existsSync(one.token.path));
  return record.token === text || isMoment;
}
