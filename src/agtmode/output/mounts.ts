/** Shows mounted snapshots. */

import { shortOid } from '../../git/files/ref-files.ts';
import {
  listMountRecords,
  type MountPlace,
  type MountRecord,
  mountState,
} from '../../lifecycle/mounted/mount-record.ts';
import { age, table } from './format.ts';

export interface KnownMount {
  readonly place: MountPlace;
  readonly record: MountRecord;
}

export function mountsOf(places: readonly MountPlace[]): KnownMount[] {
  return places.flatMap((place) => listMountRecords(place.agtDir).map((record) => ({ place, record })));
}

export function mountJson({ place, record }: KnownMount) {
  const { session, commit, directory, way, mounted_at } = record;
  return { session_id: session, commit, directory, way, state: mountState(place.agtDir, record), mounted_at };
}

const WAYS = { files: 'served from git', copy: 'a copy' } as const;

function describeState({ place, record }: KnownMount): string {
  switch (mountState(place.agtDir, record)) {
    case 'dead':
      return 'dead; see: agt doctor';
    case 'making':
      // Its repository has moved, or it is mounted in another container.
      return record.served === true ? 'not mounted here; see: agt doctor' : 'another agt is making it';
    default:
      return WAYS[record.way];
  }
}

export function describeMounts(mounts: readonly KnownMount[], now: Date): string {
  const rows = mounts.map((mount) => [
    `${mount.record.session}@${shortOid(mount.record.commit)}`,
    mount.record.directory,
    describeState(mount),
    age(new Date(mount.record.mounted_at), now),
  ]);
  return table(rows);
}
