/**
 * Frozen moments of a session: a capture of a large change freezes the session folder first, and keeps the frozen folder
 * with the snapshot of the same content. The newest `fs.keep` of a session stay, until the session is removed.
 */

import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Freeze, FrozenFolder } from '../autocommit/source.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { readFileClock } from '../disk/file-clock.ts';
import { mountsIn } from '../disk/mounts.ts';
import { systemFailure } from '../errors.ts';
import { momentFiles, momentPath, momentsDirectory, statCacheFile } from '../layout.ts';
import { providerOf } from '../providers/choose.ts';
import {
  forgetMoment,
  listMoments,
  type Moment,
  momentNumbers,
  momentTokens,
  writeMoment,
} from '../providers/moment.ts';
import { readPlace } from '../providers/place.ts';
import { carriesNonce, newToken, type Token } from '../providers/token.ts';
import type { Repository } from '../repository/repository.ts';
import { dropToken, lease, tokenOf } from '../session/provider.ts';
import { type SessionRecord, sessionFolder } from '../session/record.ts';
import { Session } from '../session/session.ts';

/** Freezes the folder of a session for one capture. */
export class Freezer {
  readonly warnings: string[] = [];
  /** Undefined if no provider can. */
  readonly freeze: Freeze | undefined;
  private readonly repository: Repository;
  private readonly record: SessionRecord;
  private frozen: Promise<FrozenFolder | undefined> | undefined;
  /** For what was frozen. */
  private token: Token | undefined;
  private made = '';

  constructor(repository: Repository, record: SessionRecord) {
    this.repository = repository;
    this.record = record;
    this.freeze = tokenOf(record) === undefined ? undefined : () => (this.frozen ??= this.tryToFreeze());
  }

  private async tryToFreeze(): Promise<FrozenFolder | undefined> {
    try {
      return await this.freezeNow();
    } catch (error) {
      const reason = systemFailure(error) ?? (error as Error).message;
      this.warnings.push(`agt read the folder while it may have changed, because ${reason}`);
      return undefined;
    }
  }

  private async freezeNow(): Promise<FrozenFolder | undefined> {
    const { repository, record } = this;
    const folder = sessionFolder(record);
    const own = tokenOf(record);
    // Where the provider could not make the folder again, it is an ordinary one.
    if (own === undefined || !carriesNonce(folder, own)) return undefined;
    const provider = providerOf(own.kind);
    if (!provider.find(readPlace(folder, repository.git.env)).freeze) return undefined;
    const named = newToken(provider.kind, momentPath(dirname(folder), record.session_id));
    const token = { ...named, path: `${named.path}-${named.nonce}` };
    this.made = new Date().toISOString();
    this.token = token;
    lease(repository, token, record.session_id);
    mkdirSync(dirname(token.path), { recursive: true });
    const clock = readFileClock(folder);
    const mounts = mountsIn(folder); // a mount that comes after the freeze hides nothing that was frozen
    await provider.freeze(folder, token);
    failurePoint('moment: frozen');
    return { folder: token.path, clock, mounts };
  }

  /** Keeps what was frozen with its snapshot; without one, agt drops it. */
  async settle(commit: string | undefined): Promise<void> {
    const { repository, record, token, made } = this;
    if (token === undefined) return;
    const isKept = commit !== undefined && (await this.frozen) !== undefined && repository.settings.keep > 0;
    if (isKept) keep(new Session(repository, record), { token, made, commit });
    failurePoint('moment: recorded');
    if (!isKept) await dropToken(repository, token).catch(() => undefined); // agt doctor knows it by its lease
    await dropMoments(repository, record, repository.settings.keep);
  }
}

function keep({ id, repository: { agtDir } }: Session, moment: Omit<Moment, 'number'>): void {
  const number = Math.max(0, ...momentNumbers(agtDir, id)) + 1;
  const { statCache } = momentFiles(agtDir, id, number);
  mkdirSync(momentsDirectory(agtDir, id), { recursive: true });
  rmSync(statCache, { force: true });
  try {
    // The next capture replaces that file and does not write into it.
    linkSync(statCacheFile(agtDir, id), statCache);
  } catch {
    // Without it a clone of the moment is read once.
  }
  writeMoment(agtDir, id, { ...moment, number });
}

/** Drops all but the newest `keep` moments of a session, the oldest first. */
export async function dropMoments(
  repository: Repository,
  record: Pick<SessionRecord, 'session_id' | 'sandbox'>,
  keep = 0,
): Promise<void> {
  const { agtDir } = repository;
  const moments = listMoments(agtDir, record);
  for (const { number, token } of moments.slice(0, Math.max(0, moments.length - keep))) {
    await dropToken(repository, token);
    forgetMoment(agtDir, record.session_id, number);
    failurePoint('moment: dropped');
  }
}

/** Drops all moments of a session that ends. A folder that cannot be dropped stays; agt doctor knows it by its lease. */
export async function endMoments({ repository, record }: Session): Promise<void> {
  const { agtDir } = repository;
  for (const token of momentTokens(agtDir, record)) await dropToken(repository, token).catch(() => undefined);
  failurePoint('moments: dropped');
  rmSync(momentsDirectory(agtDir, record.session_id), { recursive: true, force: true });
}
