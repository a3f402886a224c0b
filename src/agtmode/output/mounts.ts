/** Prints mounted snapshots. */
import { type MountRecord, mountState } from '../../lifecycle/mounted/mount-record.ts';
import type { Context } from '../context.ts';
import { age, shortOid, table } from './format.ts';

export function mountJson(agtDir: string, record: MountRecord) {
  const { session, commit, directory, way, mounted_at } = record;
  return { session_id: session, commit, directory, way, state: mountState(agtDir, record), mounted_at };
}

const WAYS = { files: 'served from git', copy: 'a copy' } as const;

function describeState(agtDir: string, record: MountRecord): string {
  switch (mountState(agtDir, record)) {
    case 'dead':
      return 'dead; see: agt doctor';
    case 'making':
      // Its repository has moved, or it is mounted in another container.
      return record.served === true ? 'not mounted here; see: agt doctor' : 'another agt is making it';
    default:
      return WAYS[record.way];
  }
}

export interface ListedMount {
  readonly agtDir: string;
  readonly record: MountRecord;
}

export function printMounts(context: Context, mounts: readonly ListedMount[]): void {
  const rows = mounts.map(({ agtDir, record }) => [
    `${record.session}@${shortOid(record.commit)}`,
    record.directory,
    describeState(agtDir, record),
    age(new Date(record.mounted_at), context.now()),
  ]);
  context.out(table(rows));
}
