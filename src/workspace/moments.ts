/**
 * Frozen moments of a session: a capture of a large change freezes the session folder first, and keeps the frozen folder
 * with a record that names the snapshot of the same content. The newest `fs.keep` of a session stay, until the session is
 * removed. They only make things quicker, and may be lost: the shadow branch has everything.
 */
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Freeze, FrozenFolder } from '../autocommit/source.ts';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { readFileClock } from '../disk/file-clock.ts';
import { mountsIn } from '../disk/mounts.ts';
import { readJson } from '../disk/read-file.ts';
import { attempt, systemFailure, unlessMissing } from '../errors.ts';
import { frozenDirectory, momentFiles, momentPath, momentsDirectory, statCacheFile } from '../layout.ts';
import { providerOf } from '../providers/choose.ts';
import { readPlace } from '../providers/provider.ts';
import { carriesNonce, newFrozenToken, parseToken, type Token, tokenText } from '../providers/token.ts';
import type { Repository } from '../repository/repository.ts';
import { own, release, tokenOf } from '../session/provider.ts';
import type { Session } from '../session/session.ts';

export interface Moment {
  /** Counts up within a session. */
  readonly number: number;
  /** Its path is where the frozen folder is now, wherever the repository was when agt made it. */
  readonly token: Token;
  /** When agt froze the folder. */
  readonly made: string;
  /** The snapshot that has the same content. */
  readonly commit: string;
}

/** The part of a session's metadata that says where its moments are. */
export interface MomentOwner {
  readonly session_id: string;
  /** Absolute. */
  readonly sandbox: string;
}

/** Those of a session that can be read, oldest first. Their folders may be gone. */
export function listMoments(agtDir: string, { session_id: id, sandbox }: MomentOwner): Moment[] {
  const frozen = frozenDirectory(dirname(dirname(sandbox)));
  const moments = momentNumbers(agtDir, id).flatMap((number) => {
    const record = readJson(momentFiles(agtDir, id, number).record);
    const { token: text, made, commit } = (record ?? {}) as Partial<Record<string, string>>;
    const token = parseToken(text);
    if (token === undefined || made === undefined || commit === undefined) return [];
    return [{ number, token: { ...token, path: join(frozen, basename(token.path)) }, made, commit }];
  });
  return moments.sort((a, b) => a.number - b.number);
}

/** For all records, also those that cannot be read. */
function momentNumbers(agtDir: string, id: string): number[] {
  const names = unlessMissing(() => readdirSync(momentsDirectory(agtDir, id))) ?? [];
  return names.flatMap((name) => (/^\d+\.json$/.test(name) ? Number.parseInt(name, 10) : []));
}

/** Not flushed: after a power cut the lease still names the folder. */
export function writeMoment(agtDir: string, id: string, { number, token, made, commit }: Moment): void {
  const text = JSON.stringify({ token: tokenText(token), made, commit });
  writeFileAtomic(momentFiles(agtDir, id, number).record, `${text}\n`, { cache: true });
}

export function forgetMoment(agtDir: string, id: string, number: number): void {
  for (const file of Object.values(momentFiles(agtDir, id, number))) rmSync(file, { force: true });
}

/** The frozen folder is there, and agt has made it. */
export function isThere({ token }: Moment): boolean {
  return existsSync(token.path) && carriesNonce(token.path, token);
}

/** Freezes the folder of a session for one capture. `freeze` is undefined if no provider can. */
export function freezerOf(session: Session) {
  const { repository, record, folder } = session;
  const warnings: string[] = [];
  let frozen: Promise<FrozenFolder | undefined> | undefined;
  /** For what was frozen. */
  let made: { readonly token: Token; readonly made: string } | undefined;

  const freezeNow = async (ofFolder: Token): Promise<FrozenFolder | undefined> => {
    // Where the provider could not make the folder again, it is an ordinary one.
    if (!carriesNonce(folder, ofFolder)) return undefined;
    const provider = providerOf(ofFolder.kind);
    if (!provider.find(readPlace(folder, repository.git.env)).freeze) return undefined;
    const token = newFrozenToken(provider.kind, momentPath(dirname(folder), session.id));
    made = { token, made: new Date().toISOString() };
    own(repository, token, session.id);
    const clock = readFileClock(folder);
    const mounts = mountsIn(folder); // a mount that comes after the freeze hides nothing that was frozen
    await provider.freeze(folder, token);
    failurePoint('moment: frozen');
    return { folder: token.path, clock, mounts };
  };

  const tryToFreeze = (ofFolder: Token) =>
    freezeNow(ofFolder).catch((error: unknown) => {
      const reason = systemFailure(error) ?? (error as Error).message;
      warnings.push(`agt read the folder while it may have changed, because ${reason}`);
      return undefined;
    });

  /** Keeps what was frozen with its snapshot; without one, agt drops it. */
  const settle = async (commit: string | undefined): Promise<void> => {
    if (made === undefined) return;
    const isKept = commit !== undefined && (await frozen) !== undefined && repository.settings.keep > 0;
    if (isKept) keep(session, { ...made, commit });
    failurePoint('moment: recorded');
    if (!isKept) await release(repository, made.token).catch(() => undefined); // agt doctor knows it by its lease
    await dropMoments(repository, record, repository.settings.keep);
  };

  const token = tokenOf(record);
  const freeze: Freeze | undefined = token && (() => (frozen ??= tryToFreeze(token)));
  return { freeze, warnings, settle };
}

function keep({ id, repository: { agtDir } }: Session, moment: Omit<Moment, 'number'>): void {
  const number = Math.max(0, ...momentNumbers(agtDir, id)) + 1;
  const { statCache } = momentFiles(agtDir, id, number);
  mkdirSync(momentsDirectory(agtDir, id), { recursive: true });
  rmSync(statCache, { force: true });
  // The next capture replaces that file and does not write into it. Without it a clone of the moment is read once.
  attempt(() => linkSync(statCacheFile(agtDir, id), statCache));
  writeMoment(agtDir, id, { ...moment, number });
}

/** Drops all but the newest `keep` moments of a session, the oldest first. */
export async function dropMoments(repository: Repository, record: MomentOwner, keep = 0): Promise<void> {
  const { agtDir } = repository;
  const moments = listMoments(agtDir, record);
  for (const { number, token } of moments.slice(0, Math.max(0, moments.length - keep))) {
    await release(repository, token);
    forgetMoment(agtDir, record.session_id, number);
    failurePoint('moment: dropped');
  }
}

/** Drops all moments of a session that ends. A folder that cannot be dropped stays; agt doctor knows it by its lease. */
export async function endMoments({ repository, record }: Session): Promise<void> {
  const { agtDir } = repository;
  for (const { token } of listMoments(agtDir, record))
    await release(repository, token).catch(() => undefined);
  failurePoint('moments: dropped');
  rmSync(momentsDirectory(agtDir, record.session_id), { recursive: true, force: true });
}
