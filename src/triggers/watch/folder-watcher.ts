/**
 * Tells when something in a session folder changes, by the kernel's notifications. On Linux that is one inotify watch for
 * each directory: Node's own recursive watch takes one for each file. Elsewhere the system watches whole trees itself.
 *
 * It only says that something changed; what, the scan finds. So an event more or less does not matter, but a directory
 * without a watch would: after more events than the kernel's queue may hold, all directories are gone through again.
 */
import { type FSWatcher, lstatSync, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { systemPath } from '../../disk/long-path.ts';
import { worktreeGitDir } from '../../git/files/worktree-git-dir.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { IGNORE_FILE, readIgnoreFile } from '../../snapshot/ignore-file.ts';

/** fs.inotify.max_queued_events, unless it has been changed. */
const QUEUE = 16_384;

/** What in the sandbox's own git directory belongs to its state. */
const GIT_FILES = /^(index|HEAD|.*_HEAD|COMMIT_EDITMSG)$/;

interface Directory {
  readonly watcher: FSWatcher;
  readonly children: Map<string, Directory>;
}

export class FolderWatcher {
  private readonly place: { readonly folder: string; readonly sandbox: string };
  /** The folder's path, one byte per character. */
  private readonly folder: string;
  private readonly identity: string;
  private readonly changed: () => void;
  private others: FSWatcher[] = [];
  private readonly tops = new Map<string, Directory>();
  private ignores: ((path: string, isDirectory: boolean) => boolean) | undefined;
  private events = 0;

  /** `folder` is absolute. @throws the system's error where its limits are reached; nothing is watched then. */
  constructor(folder: string, sandbox: string, changed: () => void) {
    this.place = { folder, sandbox };
    this.folder = Buffer.from(folder).toString('latin1');
    this.identity = identify(folder);
    this.changed = changed;
    this.rebuild();
  }

  /** True where another folder stands there now, or none. */
  isGone(): boolean {
    return identify(this.place.folder) !== this.identity;
  }

  /** To be called before a capture. @throws as the constructor. */
  settle(): void {
    if (this.events >= QUEUE) this.rebuild();
  }

  close(): void {
    for (const watcher of this.others) watcher.close();
    for (const directory of this.tops.values()) closeAll(directory);
    this.others = [];
    this.tops.clear();
  }

  private rebuild(): void {
    this.close();
    this.events = 0;
    try {
      this.watchOthers();
      this.ignores = readIgnoreFile(this.place.folder)?.ignores;
      for (const top of TOP_FOLDERS) this.add(this.tops, top, top);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The session folder itself, and the sandbox's own git directory. */
  private watchOthers(): void {
    const beside = watch(this.place.folder, (event, name) => {
      if (name !== null && name !== IGNORE_FILE && !TOP_FOLDERS.includes(name)) return;
      if (name === IGNORE_FILE || event === 'rename') this.events = QUEUE;
      this.changed();
    });
    this.others.push(quiet(beside));
    const gitDir = worktreeGitDir(this.place.sandbox);
    if (gitDir === undefined) return;
    const git = watch(gitDir, (_, name) => {
      if (name === null || GIT_FILES.test(name)) this.changed();
    });
    this.others.push(quiet(git));
  }

  /** Watches what stands at `path` if it is a directory, and everything in it. */
  private add(siblings: Map<string, Directory>, name: string, path: string): void {
    const absolute = systemPath(`${this.folder}/${path}`);
    if (name === '.git' || !isDirectory(absolute) || this.ignores?.(path, true)) return;
    if (process.platform !== 'linux') {
      const whole = watch(absolute, { recursive: true }, () => this.changed());
      siblings.set(name, { watcher: quiet(whole), children: new Map() });
      return;
    }
    let directory: Directory;
    try {
      const watcher = watch(absolute, { encoding: 'latin1' }, (event, child) =>
        this.heard(path, directory, event, child),
      );
      directory = { watcher: quiet(watcher), children: new Map() };
    } catch (error) {
      if (isDirectory(absolute)) throw error;
      return; // gone again
    }
    siblings.set(name, directory);
    for (const entry of entriesOf(absolute)) this.add(directory.children, entry, join(path, entry));
  }

  private heard(path: string, directory: Directory, event: string, name: string | null): void {
    this.events += 1;
    if (name === '.git' || (name !== null && this.ignores?.(`${path}/${name}`, false))) return;
    if (event === 'rename' && name !== null) {
      const before = directory.children.get(name);
      if (before !== undefined) closeAll(before);
      directory.children.delete(name);
      try {
        this.add(directory.children, name, `${path}/${name}`);
      } catch {
        // the limit is reached: going through all directories again says so
        this.events = QUEUE;
      }
    }
    this.changed();
  }
}

/** Inode numbers are used again; the time of birth is not. */
function identify(folder: string): string {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.birthtimeMs}`;
}

function closeAll({ watcher, children }: Directory): void {
  watcher.close();
  for (const child of children.values()) closeAll(child);
}

/** A watcher whose directory goes away may say so as an error. */
function quiet(watcher: FSWatcher): FSWatcher {
  return watcher.on('error', () => undefined);
}

function isDirectory(path: string | Buffer): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Names of the directories in a directory; none where it cannot be listed, which the capture will tell. */
function entriesOf(path: string | Buffer): string[] {
  try {
    return readdirSync(path, { withFileTypes: true, encoding: 'latin1' as BufferEncoding })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
