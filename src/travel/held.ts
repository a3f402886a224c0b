/** What remotes have of sessions here, for `agt gc`. */
import { attempt } from '../errors.ts';
import type { Repository } from '../repository/repository.ts';
import { listRecords } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { isEnded } from '../session/state.ts';
import { existingRefs } from './content.ts';
import { listRefs } from './remote.ts';
import { readShare, type Share } from './share.ts';

/** By session id: the remote of its copy, as this repository knows it. */
export function copiesOnRemotes(repository: Repository): Map<string, string> {
  const ids = listRecords(repository).records.map(({ session_id: id }) => id);
  return new Map(
    ids.flatMap((id) => {
      const share = attempt(() => readShare({ repository, id }));
      return share?.head === undefined ? [] : [[id, share.remote] as const];
    }),
  );
}

/**
 * The tips of ended sessions of which their remote has everything, by id, and the ids of those of which it has a part.
 * @throws AgtError if a remote cannot be reached
 */
export async function heldByRemotes(repository: Repository) {
  const refsOf = new Map<string, Map<string, string>>();
  const held = new Map<string, string>();
  const inPart: string[] = [];
  for (const record of listRecords(repository).records.filter(isEnded)) {
    const session = new Session(repository, record);
    const share = attempt(() => readShare(session));
    if (share?.head === undefined) continue;
    if (share.plain === 'without ignored' || !hasAll(share, await existingRefs(session))) {
      inPart.push(session.id);
      continue;
    }
    const refs = refsOf.get(share.remote) ?? (await listRefs(repository.git, share.remote));
    refsOf.set(share.remote, refs);
    const isThere = refs.get(`${share.share}/head`) === share.head;
    if (isThere && refs.get(`${share.share}/parts`) === share.parts.at(-1)?.commit)
      held.set(session.id, share.refs['tip'] as string);
  }
  return { held, inPart };
}

function hasAll({ refs }: Share, here: Readonly<Record<string, string>>): boolean {
  return here['tip'] !== undefined && Object.entries(here).every(([role, oid]) => refs[role] === oid);
}
