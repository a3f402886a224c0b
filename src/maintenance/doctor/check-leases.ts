/**
 * Folders of providers that no session uses: those of repositories that somebody has deleted, and what a killed agt left
 * half made. The leases name them, wherever they are.
 */

import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isLocked } from '../../disk/lock.ts';
import { readJson } from '../../disk/read-file.ts';
import { stateHome } from '../../disk/state-home.ts';
import { readSessionFile } from '../../filter/session-file.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { agtDirectory, FROZEN, frozenDirectory, sessionLockFile, templateFiles } from '../../layout.ts';
import { leftFolders } from '../../providers/agentfs/probe.ts';
import { storeOf } from '../../providers/agentfs/store.ts';
import { providerOf } from '../../providers/choose.ts';
import { PROVIDER_KINDS } from '../../providers/kind.ts';
import { endLease, type Lease, listLeases } from '../../providers/lease.ts';
import { momentTokens } from '../../providers/moment.ts';
import { carriesNonce, makingPath, parseToken, type Token, tokenText } from '../../providers/token.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { Finding } from './finding.ts';

/** One that another agt may be making is younger. */
const OLD_MS = 10 * 60_000;

export async function checkLeases(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const state = stateHome(env);
  if (state === undefined) return [];
  const findings: Finding[] = leftFolders(state).map(({ path: about, end }) => {
    const problem = 'a killed agt has left this folder, in which it measured agentfs';
    return { level: 'note', about, problem, mend: 'agt doctor --fix', fix: end };
  });
  for (const lease of listLeases(state)) findings.push(...(await checkLease(state, lease)));
  return findings;
}

async function checkLease(state: string, lease: Lease): Promise<Finding[]> {
  const { token, session, repository } = lease;
  const end = () => endLease(state, token);
  const provider = providerOf(token.kind);
  const [half, whole] = [makingPath(token), token.path].map(
    (path) => provider.holds?.(path, token) ?? (existsSync(path) && carriesNonce(path, token)),
  );
  const dataset = half || whole ? undefined : await unmounted(token);
  if (dataset === undefined && existsSync(repository) && (await isInUse(lease))) return [];
  const remove = async () => {
    if (await provider.remove(token)) end();
  };
  const note = { level: 'note', about: token.path, mend: 'agt doctor --fix' } as const;
  if (dataset !== undefined)
    return [
      {
        level: 'warning',
        about: token.path,
        problem: `the ${token.kind} dataset ${dataset} is not mounted there`,
        mend: `zfs mount ${shellQuote(dataset)}`,
      },
    ];
  const isMounted = providerOf(token.kind).isMounted?.(token) === true;
  if (isMounted && !half && !whole)
    return [{ ...note, problem: 'a mount of a session whose files are gone', fix: remove }];
  if (!half && !whole) return [{ ...note, problem: 'agt holds a lease of a folder that is gone', fix: end }];
  if (half && !whole)
    return [
      { ...note, about: makingPath(token), problem: 'a killed agt did not finish this folder', fix: remove },
    ];
  const frozen = frozenName(token.path);
  if (frozen !== undefined && provider.isUsed?.(token)) return [];
  const folder = join(token.path, '../../sessions', session ?? '');
  // Without the repository it may have the only copy of a snapshot, until somebody has deleted the session folder, too.
  const isLastCopy = frozen?.isMoment === true && !existsSync(repository) && existsSync(folder);
  if (frozen !== undefined && !isLastCopy)
    return [{ ...note, problem: `nobody uses this ${token.kind} ${frozen.what} any more`, fix: remove }];
  if (existsSync(repository)) return []; // agt doctor names the folder there, with what it holds
  const gone = `of session "${session}", whose repository ${repository} is gone`;
  if (isLastCopy)
    return [{ ...note, problem: `a ${token.kind} frozen moment ${gone}`, mend: `it goes with ${folder}` }];
  const unmount = isMounted ? `umount ${shellQuote(token.path)} && ` : '';
  const mend = `check what it contains, then: ${unmount}${howToDelete(token)}`;
  return [{ ...note, problem: `a ${token.kind} folder ${gone}`, mend }];
}

function howToDelete(token: Token): string {
  const path = shellQuote(token.path);
  if (token.kind !== 'agentfs') return `rm -rf ${path}`;
  return `rm -rf ${path} ${shellQuote(storeOf(token.path, token).directory)}`;
}

/** Undefined also where that file system is not there any more. */
async function unmounted(token: Token): Promise<string | undefined> {
  return providerOf(token.kind)
    .unmounted?.(token)
    .catch(() => undefined);
}

interface FrozenName {
  readonly what: string;
  readonly isMoment: boolean;
  readonly nonce: string;
}

/** Undefined for a path that is no frozen folder. */
function frozenName(path: string): FrozenName | undefined {
  const [, kind, nonce] = /^(template|moment)-(?:.*-)?([0-9a-f]{16})$/.exec(basename(path)) ?? [];
  if (nonce === undefined || basename(dirname(path)) !== FROZEN) return undefined;
  const isMoment = kind === 'moment';
  return { what: isMoment ? 'frozen moment' : 'template', isMoment, nonce };
}

/** Templates and moments that a repository took along when it was moved, or that nobody knows for another reason. */
export async function checkFrozen(
  { sessionsDir, agtDir }: Repository,
  records: readonly SessionRecord[],
): Promise<Finding[]> {
  const directory = frozenDirectory(await sessionsDir());
  const template = readJson(templateFiles(agtDir).record) as { token?: string } | undefined;
  const moments = records.flatMap((record) => momentTokens(agtDir, record).map(({ nonce }) => nonce));
  const own = [parseToken(template?.token)?.nonce, ...moments];
  const found = PROVIDER_KINDS.flatMap((kind) => providerOf(kind).walk(directory));
  return found.flatMap(({ kind, path }) => {
    const { what, nonce } = frozenName(path) ?? {};
    const age = Date.now() - statSync(path).ctimeMs;
    if (nonce === undefined || own.includes(nonce) || age < OLD_MS) return [];
    const fix = () => providerOf(kind).remove({ kind, nonce, path });
    const problem = `this ${kind} ${what} is not one of the repository`;
    return [{ level: 'note', about: path, problem, mend: 'agt doctor --fix', fix }];
  });
}

/** Whether a session or the repository names it, or another agt may be at work on it. */
async function isInUse({ token, session, repository, made }: Lease): Promise<boolean> {
  const agtDir = agtDirectory(repository);
  const text = tokenText(token);
  const template = readJson(templateFiles(agtDir).record) as { token?: string } | undefined;
  if (template?.token === text) return true;
  if (session === undefined) return Date.now() - Date.parse(made) < OLD_MS;
  if (await isLocked(sessionLockFile(agtDir, session))) return true;
  const record = readSessionFile(agtDir, session);
  const isEnded =
    record === undefined || !['creating', 'active', 'failed', 'removing'].includes(record.state);
  if (isEnded) return false;
  const isMoment = momentTokens(agtDir, { session_id: session, sandbox: record.sandbox }).some(
    ({ nonce, path }) => nonce === token.nonce && existsSync(path),
  );
  return record.token === text || isMoment;
}
