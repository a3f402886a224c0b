/** What the remote of a session does not have yet. */

import { gitLines, resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { Session } from '../session/session.ts';
import { readShare, type Share } from '../session/share-file.ts';
import { refNames } from './share.ts';

/** What the remote of a session does not have; undefined if it has all, or none is to have the session. */
export interface Debt {
  readonly remote: string;
  readonly snapshots: number;
  readonly pushed_at: string | null;
  readonly failed: NonNullable<Share['failed']> | null;
}

/** `wanted`: the remote that sessions without a copy are to be on. */
export async function debtOf(
  session: Session,
  tip: string | undefined,
  wanted: string | undefined,
): Promise<Debt | undefined> {
  const share: Partial<Share> | undefined =
    readShare(session) ?? (wanted === undefined ? undefined : { remote: wanted, refs: {} });
  if (tip === undefined || share?.refs?.['tip'] === tip || session.record.away !== undefined)
    return undefined;
  if (share?.remote === undefined) return undefined;
  const { remote, pushed_at = null, failed = null } = share;
  const sent = share.refs?.['tip'];
  const snapshots =
    sent === undefined ? (await session.history()).length : await snapshotsSince(session, sent);
  return { remote, snapshots, pushed_at, failed };
}

/** Where sessions are pushed by themselves, or somebody has pushed another one. */
export function wantedRemote(
  { settings }: Repository,
  copies: ReadonlyMap<string, string>,
): string | undefined {
  return settings.push === '' ? copies.values().next().value : settings.push;
}

export async function snapshotsSince({ git, record }: Session, tip: string | undefined): Promise<number> {
  if (tip === undefined || (await resolveObject(git, tip)) === undefined) return 0;
  return (await gitLines(git, ['rev-list', '--first-parent', `${tip}..${refNames(record)['tip']}`, '--']))
    .length;
}
