/**
 * Whether any process works in a folder: its current directory, its root, an open file or a memory map is there, or the
 * folder is mounted at another place, where somebody may come in. In doubt the answer is that somebody does.
 */
import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { errorCode } from '../errors.ts';
import { isTestedAlone } from './failure-point.ts';
import { decodeMountField } from './mounts.ts';

/** The folder must be the top of a subvolume or of a mount: nothing else has its device number. */
export function isNobodyInside(folder: string): boolean {
  try {
    const real = realpathSync(folder);
    const place = { path: Buffer.from(real).toString('latin1'), device: statSync(real).dev };
    return showsAllProcesses() && new Look(place).isNobodyThere();
  } catch (error) {
    if (error instanceof CannotTell || errorCode(error) !== '') return false;
    throw error;
  }
}

/** One byte per character. */
interface Place {
  readonly path: string;
  readonly device: number;
}

class CannotTell extends Error {}

/** The kernel gives the first namespace of processes this number. From any other one, processes outside are not seen. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

/** Root sees all of its namespace in any case. */
function showsAllProcesses(): boolean {
  if (!isTestedAlone() && readlinkSync('/proc/self/ns/pid') !== FIRST_NAMESPACE) return false;
  if (process.geteuid?.() === 0) return true;
  return !/^\S+ \S+ \S+ \/ \/proc .*hidepid=(?!0|off)/m.test(readFileSync('/proc/self/mountinfo', 'latin1'));
}

/** A row of a table of mounts. */
interface Mount {
  readonly device: string;
  /** The directory of the file system that is mounted. */
  readonly root: string;
  readonly point: string;
}

interface Namespace {
  readonly isOwn: boolean;
  /** Whether the file system of the folder is mounted there. */
  readonly hasFileSystem: boolean;
}

class Look {
  private readonly place: Place;
  /** The mount that the folder is on, as agt sees it. */
  private readonly mount: Mount;
  /** By the name of the kernel. */
  private readonly namespaces = new Map<string, Namespace>();
  private readonly own: string;

  constructor(place: Place) {
    this.place = place;
    this.mount = mountAbove(place.path);
    this.own = readlinkSync('/proc/self/ns/mnt');
  }

  isNobodyThere(): boolean {
    const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return ids.length > 0 && ids.every((pid) => whileItLives(() => !this.isInside(pid)) ?? true);
  }

  private isInside(pid: string): boolean {
    const namespace = this.namespaceOf(pid);
    if (!namespace.isOwn && !namespace.hasFileSystem) return false;
    const tasks = readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);
    const links = tasks.flatMap((task) => [`${task}/cwd`, `${task}/root`]);
    const files = readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
    const leadsThere = (link: string) => whileItLives(() => this.isThere(link, namespace)) === true;
    return [...links, ...files].some(leadsThere) || this.hasMap(pid, namespace);
  }

  private isThere(link: string, { isOwn }: Namespace): boolean {
    const target = readlinkSync(link, 'latin1');
    if (!target.startsWith('/')) return false;
    return isOwn ? this.isBelow(target) : statSync(link).dev === this.place.device;
  }

  private isBelow(path: string): boolean {
    const { path: folder } = this.place;
    return path.startsWith(folder) && /^(\/| \(deleted\)|$)/.test(path.slice(folder.length));
  }

  /** Lines are `address perms offset device inode path`. */
  private hasMap(pid: string, { isOwn }: Namespace): boolean {
    const lines = readFileSync(`/proc/${pid}/maps`, 'latin1').matchAll(/^(\S+) \S+ \S+ (\S+) \d+ +(\/.*)$/gm);
    const seen = new Set<string>();
    for (const [, address, device = '', written = ''] of lines) {
      if (seen.has(written)) continue;
      seen.add(written);
      const path = written.replaceAll('\\012', '\n');
      if (isOwn ? this.isBelow(path) : this.isMapThere(`/proc/${pid}/map_files/${address}`, device))
        return true;
    }
    return false;
  }

  private isMapThere(link: string, device: string): boolean {
    const [major = '', minor = ''] = device
      .split(':')
      .map((digits) => Number.parseInt(digits, 16).toString());
    if (`${major}:${minor}` !== this.mount.device) return false;
    return whileItLives(() => statSync(link).dev === this.place.device) === true;
  }

  /** @throws CannotTell if the folder, or something in it, is mounted there. */
  private namespaceOf(pid: string): Namespace {
    const name = readlinkSync(`/proc/${pid}/ns/mnt`);
    const known = this.namespaces.get(name);
    if (known !== undefined) return known;
    const mounts = readMounts(pid);
    const { device, root, point } = this.mount;
    const inFileSystem = `${root === '/' ? '' : root}${this.place.path.slice(point === '/' ? 0 : point.length)}`;
    const isInFolder = (mount: Mount) =>
      mount.device === device && (mount.root === inFileSystem || mount.root.startsWith(`${inFileSystem}/`));
    if (inFileSystem !== '' && mounts.some(isInFolder)) throw new CannotTell();
    if (mounts.some((mount) => mount.point.startsWith(`${this.place.path}/`))) throw new CannotTell();
    const hasFileSystem = mounts.some((mount) => mount.device === device);
    const found = { isOwn: name === this.own, hasFileSystem };
    this.namespaces.set(name, found);
    return found;
  }
}

function readMounts(pid: string): Mount[] {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, 'latin1').split('\n');
  return lines.flatMap((line) => {
    const [, , device, root, point] = line.split(' ');
    if (device === undefined || root === undefined || point === undefined) return [];
    return [{ device, root: decodeMountField(root), point: decodeMountField(point) }];
  });
}

/** The last one of the longest mount point above a path. */
function mountAbove(path: string): Mount {
  const above = readMounts('self').filter(
    ({ point }) => point === '/' || path === point || path.startsWith(`${point}/`),
  );
  const [longest] = above.reverse().sort((a, b) => b.point.length - a.point.length);
  if (longest === undefined) throw new CannotTell();
  return longest;
}

/** Undefined if the process, or its file, is gone. @throws system errors: for a process of another user */
function whileItLives<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EINVAL'].includes(errorCode(error))) return undefined;
    throw error;
  }
}
