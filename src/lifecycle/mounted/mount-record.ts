/**
 * Snapshots that are mounted as folders: one file each in `<common>/agt/mounts`. agt writes it before it makes anything, and
 * deletes it last. A ref keeps the snapshot meanwhile, so the end of its session, or `agt gc`, takes nothing away.
 */
import { dirname } from 'node:path';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { jsonNamesIn } from '../../disk/folder-entries.ts';
import { type ProcessIdentity, processIsGone } from '../../disk/lock-owner.ts';
import { listMounts } from '../../disk/mounts.ts';
import { readJson } from '../../disk/read-file.ts';
import { mountFile, mountsDirectory } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { MOUNT_TYPE } from '../../snapshot/folders.ts';

/** `files`: a file system that a process of agt serves. `copy`: a folder of read-only files. */
export type MountWay = 'files' | 'copy';

export interface MountRecord {
  /** The name of the file and of the ref. */
  readonly name: string;
  readonly session: string;
  readonly commit: string;
  /** Absolute, links resolved. */
  readonly directory: string;
  readonly way: MountWay;
  /** agt has made the directory, and removes it at the end. */
  readonly made_directory: boolean;
  /** Directories above it that agt has made, the innermost first; absolute, links resolved. */
  readonly made_parents?: readonly string[];
  readonly mounted_at: string;
  /** The process that makes it, and then serves it. Missing for a copy that is complete. */
  readonly process?: ProcessIdentity;
  /** The process serves it already. */
  readonly served?: true;
  /** Milliseconds: no file of the copy has changed since. */
  readonly complete_at?: number;
}

/** The parts of a repository that the functions here need. */
export type MountPlace = Pick<Repository, 'git' | 'agtDir'>;

/** In the table of mounts, in place of a device; it ends with the common git directory. */
export function mountSource(agtDir: string, { session, commit }: MountRecord): string {
  return `agt:${session}@${commit.slice(0, 10)}:${dirname(agtDir)}`;
}

/** The common git directory in such a name. */
export function repositoryOfSource(source: string): string | undefined {
  return /^agt:[^:]*:(\/.*)$/s.exec(source)?.[1];
}

export function writeMount(agtDir: string, record: MountRecord): void {
  writeFileAtomic(mountFile(agtDir, record.name), `${JSON.stringify(record, null, 2)}\n`, { durable: true });
}

/** Undefined if it is gone or damaged. */
export function readMount(agtDir: string, name: string): MountRecord | undefined {
  const record = readJson(mountFile(agtDir, name)) as MountRecord | undefined;
  const isWhole =
    record?.name === name && typeof record.directory === 'string' && record.commit !== undefined;
  return isWhole ? record : undefined;
}

/** Oldest first. */
export function listMountRecords(agtDir: string): MountRecord[] {
  return jsonNamesIn(mountsDirectory(agtDir))
    .flatMap((name) => readMount(agtDir, name) ?? [])
    .sort((a, b) => (a.mounted_at < b.mounted_at ? -1 : 1));
}

/**
 * `serving`: its files can be read. `dead`: it is mounted, and the process that served it has ended: every access fails.
 * `gone`: nothing is mounted there. `making`: another agt is at work.
 */
export type MountState = 'serving' | 'dead' | 'gone' | 'making';

export function mountState(agtDir: string, record: MountRecord): MountState {
  const isRunning = record.process !== undefined && !processIsGone(record.process);
  if (record.way === 'copy') {
    if (record.complete_at !== undefined) return 'serving';
    return isRunning ? 'making' : 'dead';
  }
  if (isMounted(agtDir, record)) return isRunning ? 'serving' : 'dead';
  return isRunning ? 'making' : 'gone';
}

/** In the table of mounts, at its directory, with its own name. */
export function isMounted(agtDir: string, record: MountRecord): boolean {
  const at = listMounts().filter(({ point }) => point === record.directory);
  return at.some(({ type, source }) => type === MOUNT_TYPE && source === mountSource(agtDir, record));
}
