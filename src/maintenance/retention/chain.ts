/** Reads the part of a session's history that `agt gc` may shorten: the snapshots that this session made. */
import { resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, snapshotRefs } from '../../session/record.ts';
import { readHistory, type Snapshot } from '../../snapshot/history.ts';

export interface Chain {
  /** Newest first. Snapshots that a fork has from another session belong to that one. */
  readonly snapshots: readonly Snapshot[];
  /** The commit that the shadow branch points to; undefined if somebody deleted the branch. */
  readonly branch: string | undefined;
  readonly tip: string | undefined;
}

export async function readChain(repository: Repository, record: SessionRecord): Promise<Chain> {
  const refs = snapshotRefs(record);
  const [tip, branch] = await Promise.all(
    [refs.tip, refs.shadow].map((ref) => resolveObject(repository.git, `${ref}^{commit}`)),
  );
  if (tip === undefined) return { snapshots: [], branch, tip };
  const history = await readHistory(repository.git, refs);
  // A commit with agt's trailers but another author may be a person's, and gc rewrites none of those.
  const isOwn = ({ session, authorEmail }: Snapshot) =>
    session === record.session_id && authorEmail === repository.settings.agentEmail;
  const end = history.findIndex((snapshot) => !isOwn(snapshot));
  return { snapshots: end < 0 ? history : history.slice(0, end), branch, tip };
}
