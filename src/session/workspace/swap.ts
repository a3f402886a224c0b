/**
 * Puts another folder in the place of a session folder: a clone that a restore has made of a frozen moment. Two renames do
 * it. The intent of the restore names both folders, and the folder in place says by its nonce how far agt has come. So the
 * next command that locks the session goes back, or forward, whatever was killed.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { stateHome } from '../../disk/state-home.ts';
import { AgtError, errorCode } from '../../errors.ts';
import { registrationOf } from '../../git/files/worktree-registrations.ts';
import { providerOf } from '../../providers/choose.ts';
import { endLease, takeLease } from '../../providers/lease.ts';
import { readPlace } from '../../providers/place.ts';
import {
  carriesNonce,
  makingPath,
  newToken,
  parseToken,
  type Token,
  tokenText,
} from '../../providers/token.ts';
import { momentPath, replacedFolder } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, sessionFolder, writeRecord } from '../record.ts';
import type { Swap } from '../state.ts';
import { dropMoments, keepMoment } from './moments.ts';
import { lease, tokenOf } from './provider.ts';

/** Whether the provider can clone the folder, drop it at once, and rename it. */
export function canSwap({ git }: Repository, record: SessionRecord): boolean {
  const token = tokenOf(record);
  const folder = sessionFolder(record);
  if (token === undefined || record.checkout !== undefined || !carriesNonce(folder, token)) return false;
  const provider = providerOf(token.kind);
  const { clone, freeze } = provider.find(readPlace(folder, git.env));
  return provider.mounts !== true && clone && freeze;
}

export interface SwapFolders {
  /** With the intent that names both folders. */
  readonly record: SessionRecord;
  /** The clone, under its temporary name. */
  readonly making: string;
  /** Where the folder of the session goes. */
  readonly aside: string;
}

/** Makes a clone of `from` beside the session folder. `begun` has the intent to restore. */
export async function makeClone(
  repository: Repository,
  begun: SessionRecord,
  from: string,
): Promise<SwapFolders> {
  const folder = sessionFolder(begun);
  const before = tokenOf(begun) as Token;
  const clone = newToken(before.kind, folder);
  const record = withSwap(begun, { clone: tokenText(clone), before: tokenText(before) });
  writeRecord(repository, record);
  lease(repository, clone, begun.session_id);
  await providerOf(clone.kind).prepare(clone, from);
  failurePoint('swap: cloned');
  return { record, making: makingPath(clone), aside: replacedFolder(folder) };
}

/**
 * Puts the clone in the place of the session folder, if `mayReplace` says so of the folder that is out of the way then.
 * If not, and also if it throws, settleSwap goes back or forward.
 */
export async function exchange(
  repository: Repository,
  { record, making, aside }: SwapFolders,
  mayReplace: (aside: string) => Promise<boolean>,
): Promise<void> {
  const folder = sessionFolder(record);
  keepRegistration(repository, record);
  renameSync(folder, aside);
  failurePoint('swap: moved aside');
  if (!(await mayReplace(aside))) return;
  renameSync(making, folder);
  flush(dirname(folder));
  failurePoint('swap: in place');
  await settleSwap(repository, record, 'keep');
}

/**
 * Finishes or undoes a swap, as far as it has come, and returns the metadata without it. `keep`: the folder that was
 * replaced becomes a frozen moment; otherwise agt drops it. A swap that is not complete leads back.
 */
export async function settleSwap(
  repository: Repository,
  record: SessionRecord,
  replaced: 'keep' | 'drop',
): Promise<SessionRecord> {
  const { intent } = record;
  if (intent?.operation !== 'restore' || intent.swap === undefined) return record;
  const folder = sessionFolder(record);
  const aside = replacedFolder(folder);
  const [clone, before] = [intent.swap.clone, intent.swap.before].map((text) => {
    const token = parseToken(text);
    return token && { ...token, path: folder };
  });
  if (clone === undefined || before === undefined) return record;
  const isDone = existsSync(folder) && carriesNonce(folder, clone);
  let meanwhile: string | undefined;
  if (!isDone) {
    meanwhile = goBack(folder, aside, before);
    await drop(repository, clone, makingPath(clone));
  }
  const settled: SessionRecord = {
    ...withSwap(record, undefined),
    token: tokenText(isDone ? clone : before),
  };
  if (isDone && existsSync(aside)) {
    writeRecord(repository, withSwap(settled, intent.swap));
    failurePoint('swap: named');
    await endReplaced(repository, settled, before, replaced === 'keep' ? intent.tip : undefined);
  }
  releaseRegistration(repository, record);
  writeRecord(repository, settled);
  if (meanwhile !== undefined) throw movedAway(record, meanwhile);
  return settled;
}

/** Once: the session is as before, and the next command works. */
function movedAway({ session_id: id }: SessionRecord, to: string): AgtError {
  return new AgtError(`a folder was made in the place of session "${id}" while a restore was not finished`, {
    hints: [`agt has put the session back, and that folder is now ${to}`, 'run the command again'],
  });
}

function withSwap(record: SessionRecord, swap: Swap | undefined): SessionRecord {
  if (record.intent?.operation !== 'restore') return record;
  const { swap: _, ...intent } = record.intent;
  return { ...record, intent: swap === undefined ? intent : { ...intent, swap } };
}

/** If somebody has made a folder of that name meanwhile, it stays beside, and agt doctor names it. Returns its path. */
function goBack(folder: string, aside: string, before: Token): string | undefined {
  if (!existsSync(aside) || !carriesNonce(aside, before)) return undefined;
  const meanwhile = existsSync(folder) ? `${folder}-meanwhile-${Date.now()}` : undefined;
  if (meanwhile !== undefined) renameSync(folder, meanwhile);
  renameSync(aside, folder);
  flush(dirname(folder));
  failurePoint('swap: moved back');
  return meanwhile;
}

/** `commit`: the snapshot of the same content, if agt keeps the folder. If nothing of that works, agt doctor removes it. */
async function endReplaced(
  repository: Repository,
  record: SessionRecord,
  before: Token,
  commit: string | undefined,
): Promise<void> {
  const aside = replacedFolder(sessionFolder(record));
  try {
    if (commit === undefined || repository.settings.keep === 0) await drop(repository, before, aside);
    else await keepAsMoment(repository, record, before, commit);
  } catch {
    if (existsSync(aside)) leaseAt(repository, record, { ...before, path: aside });
  }
}

async function drop(repository: Repository, token: Token, at: string): Promise<void> {
  await providerOf(token.kind).remove(token, at);
  const state = stateHome(repository.git.env);
  if (state !== undefined && !existsSync(at)) endLease(state, token);
}

/** Makes the lease of a folder say where it is now. */
function leaseAt({ commonDir, git }: Repository, { session_id: session }: SessionRecord, token: Token): void {
  const state = stateHome(git.env);
  const made = new Date().toISOString();
  if (state !== undefined) takeLease(state, { token, repository: commonDir, session, made });
}

/** So the way back is as quick. */
async function keepAsMoment(
  repository: Repository,
  record: SessionRecord,
  before: Token,
  commit: string,
): Promise<void> {
  const folder = sessionFolder(record);
  const path = `${momentPath(dirname(folder), record.session_id)}-${before.nonce}`;
  const token = { ...before, path };
  leaseAt(repository, record, token);
  renameSync(replacedFolder(folder), path);
  failurePoint('swap: kept');
  await providerOf(token.kind).close?.(path, true);
  keepMoment(repository, record, { token, made: new Date().toISOString(), commit });
  await dropMoments(repository, record, repository.settings.keep);
}

const LOCKED = 'agt puts another folder in its place\n';

/** `git worktree prune` would otherwise take the sandbox for deleted. */
function keepRegistration({ commonDir }: Repository, { sandbox }: SessionRecord): void {
  const registration = registrationOf(commonDir, sandbox);
  if (registration === undefined) return;
  try {
    writeFileSync(join(registration, 'locked'), LOCKED, { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function releaseRegistration({ commonDir }: Repository, { sandbox }: SessionRecord): void {
  const registration = registrationOf(commonDir, sandbox);
  if (registration === undefined) return;
  const file = join(registration, 'locked');
  if (existsSync(file) && readFileSync(file, 'utf8') === LOCKED) rmSync(file);
}

function flush(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
