/** Session folders and refs of agt that belong to no session. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { STASHES, sessionNamespaces, stashRef, tipRef } from '../../filter/agent-refs.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { aboutSetAside } from '../../lifecycle/in-place/set-aside.ts';
import type { Repository } from '../../repository/repository.ts';
import { idProblem } from '../../session/id.ts';
import type { SessionRecord } from '../../session/record.ts';
import { isEnded, type SessionState } from '../../session/state.ts';
import type { Finding } from './finding.ts';

/** Also what is left of the folder of a removed session: files that no snapshot has. */
export function orphanFolders(
  sessionsDir: string,
  records: readonly { readonly sandbox: string; readonly state?: SessionState }[],
): Finding[] {
  const [removed, others] = [true, false].map((wanted) => {
    const chosen = records.filter(({ state }) => (state !== undefined && isEnded({ state })) === wanted);
    return new Set(chosen.map(({ sandbox }) => basename(dirname(sandbox))));
  });
  const names = existsSync(sessionsDir) ? readdirSync(sessionsDir) : [];
  return names
    .filter((name) => idProblem(name) === undefined && others?.has(name) !== true)
    .map((name) => ({
      level: 'warning',
      about: name,
      problem: `${removed?.has(name) ? 'the session is removed, and yet there is' : 'a session folder without metadata:'} ${join(sessionsDir, name)}`,
      mend: 'check what it contains, then move it away',
    }));
}

/** The user's own work of before a session, which was in the way of what the session brought. */
export function setAsideWork(records: readonly SessionRecord[], refs: ReadonlySet<string>): Finding[] {
  const going = new Set(
    records
      .filter((record) => !isEnded(record) && record.checkout !== undefined)
      .map(({ session_id: id }) => stashRef(id)),
  );
  return [...refs]
    .filter((ref) => ref.startsWith(STASHES) && !going.has(ref))
    .map((ref) => ({
      level: 'warning',
      about: ref.slice(STASHES.length),
      problem: 'uncommitted work of yours from before this session is still set aside',
      mend: aboutSetAside(ref).join('; '),
    }));
}

export function orphanRefs(
  repository: Repository,
  records: readonly SessionRecord[],
  refs: ReadonlySet<string>,
): Finding[] {
  const known = new Set(
    records.flatMap((record) => [record.branch, record.work_branch, tipRef(record.session_id)]),
  );
  const namespaces = sessionNamespaces(repository.prefixes);
  return [...refs]
    .filter((ref) => namespaces.some((namespace) => ref.startsWith(namespace)) && !known.has(ref))
    .map((ref) => ({
      level: 'note',
      about: shortBranch(ref),
      problem: 'a ref in a namespace of agt that belongs to no session here',
      mend: `keep it, or delete it: agt git update-ref -d ${ref}`,
    }));
}
