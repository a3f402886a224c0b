/**
 * Folders of providers that no session uses: those of repositories that somebody has deleted, and what a killed agt left
 * half made. The leases name them, wherever they are.
 */
import { existsSync } from 'node:fs';
import { isLocked } from '../../disk/lock.ts';
import { readJson } from '../../disk/read-json.ts';
import { readSessionFile } from '../../filter/session-file.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { providerOf } from '../../providers/choose.ts';
import { endLease, type Lease, listLeases } from '../../providers/lease.ts';
import { carriesNonce, makingPath, tokenText } from '../../providers/token.ts';
import { agtDirectory, sessionLockFile, templateFiles } from '../../repository/layout.ts';
import { stateHome } from '../../session/attached/store.ts';
import type { Finding } from './finding.ts';

/** A template that another agt may be making is younger. */
const OLD_MS = 10 * 60_000;

export async function checkLeases(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const state = stateHome(env);
  if (state === undefined) return [];
  const findings: Finding[] = [];
  for (const lease of listLeases(state)) findings.push(...(await checkLease(state, lease)));
  return findings;
}

async function checkLease(state: string, lease: Lease): Promise<Finding[]> {
  const { token, session, repository } = lease;
  const end = () => endLease(state, token);
  const [half, whole] = [makingPath(token), token.path].map(
    (path) => existsSync(path) && carriesNonce(path, token),
  );
  if (existsSync(repository) && (await isInUse(lease))) return [];
  const remove = async () => {
    if (await providerOf(token.kind).remove(token)) end();
  };
  const note = { level: 'note', about: token.path, mend: 'agt doctor --fix' } as const;
  if (!half && !whole) return [{ ...note, problem: 'agt holds a lease of a folder that is gone', fix: end }];
  if (half && !whole)
    return [
      { ...note, about: makingPath(token), problem: 'a killed agt did not finish this folder', fix: remove },
    ];
  if (session === undefined) {
    const problem = `this ${token.kind} template belongs to no repository any more`;
    return [{ ...note, problem, fix: remove }];
  }
  if (existsSync(repository)) return []; // agt doctor names the folder there, with what it holds
  return [
    {
      level: 'warning',
      about: token.path,
      problem: `a ${token.kind} folder of session "${session}", whose repository ${repository} is gone`,
      mend: `check what it contains, then: rm -rf ${shellQuote(token.path)}`,
    },
  ];
}

/** Whether a session or the repository names it, or another agt may be at work on it. */
async function isInUse({ token, session, repository, made }: Lease): Promise<boolean> {
  const agtDir = agtDirectory(repository);
  const text = tokenText(token);
  if (session === undefined) {
    const template = readJson(templateFiles(agtDir).record) as { token?: string } | undefined;
    return template?.token === text || Date.now() - Date.parse(made) < OLD_MS;
  }
  if (await isLocked(sessionLockFile(agtDir, session))) return true;
  const record = readSessionFile(agtDir, session);
  const isEnded =
    record === undefined || !['creating', 'active', 'failed', 'removing'].includes(record.state);
  return !isEnded && record.token === text;
}
