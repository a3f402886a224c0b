/** Prints mounted snapshots. */
import { type MountRecord, mountState } from '../../session/mounted/mount-record.ts';
import type { Context } from '../context.ts';
import { age, shortOid, table } from './format.ts';

export function mountJson(agtDir: string, record: MountRecord) {
  const { session, commit, directory, way, mounted_at } = record;
  return { session_id: session, commit, directory, way, state: mountState(agtDir, record), mounted_at };
}

const WAYS = { files: 'served from git', copy: 'a copy' } as const;

export interface ListedMount {
  readonly agtDir: string;
  readonly record: MountRecord;
}

export function printMounts(context: Context, mounts: readonly ListedMount[]): void {
  const rows = mounts.map(({ agtDir, record }) => [
    `${record.session}@${shortOid(record.commit)}`,
    record.directory,
    mountState(agtDir, record) === 'dead' ? 'dead; see: agt doctor' : WAYS[record.way],
    age(new Date(record.mounted_at), context.now()),
  ]);
  context.out(table(rows));
}
