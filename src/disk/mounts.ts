/** Mounts inside a directory. agt deletes no directory with a mount in it: the files belong somewhere else. */
import { readFileSync, realpathSync, statfsSync } from 'node:fs';
import { AgtError } from '../errors.ts';

const TABLE = '/proc/self/mountinfo';

/** The mount points at or below a directory. Empty where the system has no such table. */
export function mountsIn(directory: string): string[] {
  let table: string;
  let place: string;
  try {
    table = readFileSync(TABLE, 'latin1');
    place = Buffer.from(realpathSync(directory)).toString('latin1');
  } catch {
    return [];
  }
  return table
    .split('\n')
    .map((line) => decodeMountField(line.split(' ')[4] ?? ''))
    .filter((point) => point === place || point.startsWith(`${place}/`))
    .map((point) => Buffer.from(point, 'latin1').toString());
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

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
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
  try {
    return process.platform === 'linux' && PSEUDO_TYPES.has(statfsSync(path).type);
  } catch {
    return false;
  }
}
