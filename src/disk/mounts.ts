/** Mounts inside a directory. agt deletes no directory with a mount in it: the files belong somewhere else. */
import { readFileSync, realpathSync, statfsSync } from 'node:fs';
import { AgtError, attempt } from '../errors.ts';
import { realPath } from './real-path.ts';

const TABLE = '/proc/self/mountinfo';

export interface MountEntry {
  /** As Node has paths. */
  readonly point: string;
  readonly type: string;
  readonly source: string;
}

/** All mounts that this process sees. Empty where the system has no such table. */
export function listMounts(): MountEntry[] {
  const table = attempt(() => readFileSync(TABLE, 'latin1')) ?? '';
  return table
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [before = '', after = ''] = line.split(' - ');
      const [type = '', source = ''] = after.split(' ');
      const field = (text: string) => Buffer.from(decodeMountField(text), 'latin1').toString();
      return { point: field(before.split(' ')[4] ?? ''), type, source: field(source) };
    });
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
  const [own, inside] = [[directory, realPath(directory)], mountsIn(directory)];
  const mounted = inside.find((point) => !isOwn || !own.includes(point));
  if (mounted === undefined) return;
  throw new AgtError(`${mounted} is a mount point; agt does not delete what is mounted there`, {
    hints: [`umount ${mounted}`, 'then try again'],
  });
}

/** The table has blanks, line breaks and backslashes as octal numbers: proc_pid_mountinfo(5). */
export function decodeMountField(field: string): string {
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

function fileSystemType(path: string | Buffer): number | undefined {
  return process.platform === 'linux' ? attempt(() => statfsSync(path).type) : undefined;
}

const FUSE = 0x65735546;

/** Whether a path is in a file system in user space that is mounted with this type, such as `fuse.sshfs`. */
export function isOnFuse(path: string | Buffer, type: string): boolean {
  if (fileSystemType(path) !== FUSE) return false;
  const bytes = Buffer.from(path).toString();
  const around = listMounts().filter(({ point }) => bytes === point || bytes.startsWith(`${point}/`));
  const nearest = around.reduce(
    (best, mount) => (mount.point.length >= best.point.length ? mount : best),
    around[0] ?? { point: '', type: '', source: '' },
  );
  return nearest.type === type;
}
