/** Mounts around a path and inside of it. agt deletes no directory with a mount in it: the files belong somewhere else. */
import { readFileSync, realpathSync, statfsSync } from 'node:fs';
import { AgtError, attempt } from '../errors.ts';
import { askSystem, hasProc } from './platform.ts';
import { realEntry, realPath } from './real-path.ts';

const TABLE = '/proc/self/mountinfo';

export interface MountEntry {
  /** As Node has paths. */
  readonly point: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

/** All mounts that this process sees. Empty where the system does not tell. */
export function listMounts(): MountEntry[] {
  return knownMounts() ?? [];
}

function knownMounts(): MountEntry[] | undefined {
  return hasProc() ? mountsInTable(attempt(() => readFileSync(TABLE, 'latin1')) ?? '') : mountsByProgram();
}

/** As mount(8) of macOS and FreeBSD writes them: `/dev/disk3s1 on /Volumes/Work (apfs, local, journaled)`. */
function mountsByProgram(): MountEntry[] | undefined {
  const lines = Buffer.from(askSystem('mount') ?? '', 'latin1').toString();
  const mounts = [...lines.matchAll(/^(.*?) on (\/.*) \(([^,()]*)(?:, )?(.*)\)$/gm)];
  if (mounts.length === 0) return undefined;
  return mounts.map(([, source = '', point = '', type = '', options = '']) => ({
    ...{ source, point, type, options: options.split(', ') },
  }));
}

function mountsInTable(table: string): MountEntry[] {
  return table
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [before = '', after = ''] = line.split(' - ');
      const fields = before.split(' ');
      const [type = '', source = '', superOptions = ''] = after.split(' ');
      const decoded = (text: string) => Buffer.from(decodeMountField(text), 'latin1').toString();
      const options = [...(fields[5] ?? '').split(','), ...superOptions.split(',')];
      return { point: decoded(fields[4] ?? ''), type, source: decoded(source), options };
    });
}

/** Also of a dead mount, which itself cannot be looked at. */
export function isMountPoint(path: string): boolean {
  const entry = realEntry(path);
  return listMounts().some(({ point }) => point === entry);
}

/** The mount that a path is on: the longest mount point above it, and of equal ones the last. */
export function mountOf(path: string): MountEntry | undefined {
  return listMounts().reduce<MountEntry | undefined>((best, mount) => {
    const isAbove = mount.point === '/' || path === mount.point || path.startsWith(`${mount.point}/`);
    return isAbove && mount.point.length >= (best?.point.length ?? 0) ? mount : best;
  }, undefined);
}

/** The mount points at or below a directory. */
export function mountsIn(directory: string): string[] {
  const place = attempt(() => realpathSync(directory));
  if (place === undefined) return [];
  return listMounts()
    .map(({ point }) => point)
    .filter((point) => point === place || point.startsWith(`${place}/`));
}

/** `isOwn`: the directory itself may be a mount point, and what is mounted there may go. @throws AgtError */
export function refuseMounts(directory: string, isOwn = false): void {
  if (knownMounts() === undefined) {
    const problem = 'it cannot tell whether something is mounted there';
    const hints = ['there is no /proc, and mount(8) does not answer'];
    throw new AgtError(`agt does not delete ${directory}: ${problem}`, { hints });
  }
  const [own, inside] = [[directory, realPath(directory)], mountsIn(directory)];
  const mounted = inside.find((point) => !isOwn || !own.includes(point));
  if (mounted === undefined) return;
  throw new AgtError(`${mounted} is a mount point; agt does not delete what is mounted there`, {
    hints: [`umount ${mounted}`, 'then try again'],
  });
}

/** The table has blanks, line breaks and backslashes as octal numbers: proc_pid_mountinfo(5). */
function decodeMountField(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** `f_type` of file systems whose files the kernel makes up: statfs(2), linux/magic.h. */
const PSEUDO_TYPES: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0x62656570, // configfs
  0x1cd1, // devpts
  0xcafe4a11, // bpf
  0x6e736673, // nsfs
]);

export function isPseudoFileSystem(path: string | Buffer): boolean {
  return PSEUDO_TYPES.has(fileSystemType(path) ?? -1);
}

/** f_type of statfs(2); undefined if the system cannot tell. */
export function fileSystemType(path: string | Buffer): number | undefined {
  return process.platform === 'linux' ? attempt(() => statfsSync(path).type >>> 0) : undefined;
}

const FUSE = 0x65735546;

/** Whether a path is in a file system in user space that is mounted with this type, such as `fuse.sshfs`. */
export function isOnFuse(path: string | Buffer, type: string): boolean {
  return fileSystemType(path) === FUSE && mountOf(Buffer.from(path).toString())?.type === type;
}
