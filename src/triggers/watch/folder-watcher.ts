/**
 * Reports changes in a session folder, by notifications of the kernel. On Linux it keeps one inotify watch for each
 * directory (Node's recursive watch takes one for each file). Other systems watch whole trees.
 *
 * It reports that something changed; the scan finds out what. An additional or lost event does no harm, but a new
 * directory that gets no watch would. So when the kernel may have dropped events, it watches all directories anew.
 */
import { type FSWatcher, lstatSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { entriesOf } from '../../disk/folder-entries.ts';
import { systemPath } from '../../disk/long-path.ts';
import { attempt } from '../../errors.ts';
import { worktreeGitDir } from '../../git/files/discover-repository.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { IGNORE_FILE, readIgnoreFile } from '../../snapshot/ignore-file.ts';

/** The default of fs.inotify.max_queued_events: the kernel drops events beyond it. */
const INOTIFY_QUEUE_LENGTH = 16_384;

/** Files of the sandbox's git directory that are part of a snapshot. */
const GIT_FILES = /^(index|HEAD|.*_HEAD|COMMIT_EDITMSG)$/;

interface WatchedDirectory {
  readonly watcher: FSWatcher;
  readonly children: Map<string, WatchedDirectory>;
}

export class FolderWatcher {
  private readonly folder: string;
  private readonly sandbox: string;
  /** `folder` with one byte per character, since names of files are bytes. */
  private readonly folderBytes: string;
  private readonly identity: string;
  private readonly onChange: () => void;
  /** Watchers of the session folder itself and of the sandbox's git directory. */
  private outerWatchers: FSWatcher[] = [];
  private readonly topFolders = new Map<string, WatchedDirectory>();
  private ignores: ((path: string, isDirectory: boolean) => boolean) | undefined;
  private eventCount = 0;
  private mustRebuild = false;

  /** `folder` is absolute. @throws the system's error if a limit of the kernel is reached; nothing is watched then. */
  constructor(folder: string, sandbox: string, onChange: () => void) {
    this.folder = folder;
    this.sandbox = sandbox;
    this.folderBytes = Buffer.from(folder).toString('latin1');
    this.identity = identify(folder);
    this.onChange = onChange;
    this.rebuild();
  }

  /** True if the folder was deleted or replaced by another one. */
  isGone(): boolean {
    return identify(this.folder) !== this.identity;
  }

  /** Call it before a capture. @throws as the constructor. */
  rebuildIfNeeded(): void {
    if (this.mustRebuild || this.eventCount >= INOTIFY_QUEUE_LENGTH) this.rebuild();
  }

  close(): void {
    for (const watcher of this.outerWatchers) watcher.close();
    for (const directory of this.topFolders.values()) closeAll(directory);
    this.outerWatchers = [];
    this.topFolders.clear();
  }

  private rebuild(): void {
    this.close();
    this.eventCount = 0;
    this.mustRebuild = false;
    try {
      this.watchSessionFolder();
      this.watchGitDirectory();
      this.ignores = readIgnoreFile(this.folder)?.ignores;
      for (const top of TOP_FOLDERS) this.add(this.topFolders, top, top);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  private watchSessionFolder(): void {
    const watcher = watch(this.folder, (event, name) => {
      if (name !== null && name !== IGNORE_FILE && !TOP_FOLDERS.includes(name)) return;
      if (name === IGNORE_FILE || event === 'rename') this.mustRebuild = true;
      this.onChange();
    });
    this.outerWatchers.push(withoutErrors(watcher));
  }

  private watchGitDirectory(): void {
    const gitDir = worktreeGitDir(this.sandbox);
    if (gitDir === undefined) return;
    const watcher = watch(gitDir, (_, name) => {
      if (name === null || GIT_FILES.test(name)) this.onChange();
    });
    this.outerWatchers.push(withoutErrors(watcher));
  }

  /** Watches `path` and all directories in it, if it is a directory. */
  private add(siblings: Map<string, WatchedDirectory>, name: string, path: string): void {
    const absolute = systemPath(`${this.folderBytes}/${path}`);
    if (name === '.git' || !isDirectory(absolute) || this.ignores?.(path, true)) return;
    if (process.platform !== 'linux') {
      const tree = watch(absolute, { recursive: true }, () => this.onChange());
      siblings.set(name, { watcher: withoutErrors(tree), children: new Map() });
      return;
    }
    let directory: WatchedDirectory;
    try {
      const watcher = watch(absolute, { encoding: 'latin1' }, (event, child) =>
        this.onDirectoryEvent(path, directory, event, child),
      );
      directory = { watcher: withoutErrors(watcher), children: new Map() };
    } catch (error) {
      if (isDirectory(absolute)) throw error;
      return; // deleted meanwhile
    }
    siblings.set(name, directory);
    const children = directoriesIn(`${this.folderBytes}/${path}`);
    for (const child of children) this.add(directory.children, child, join(path, child));
  }

  private onDirectoryEvent(
    path: string,
    directory: WatchedDirectory,
    event: string,
    name: string | null,
  ): void {
    this.eventCount += 1;
    if (name === '.git' || (name !== null && this.ignores?.(`${path}/${name}`, false))) return;
    if (event === 'rename' && name !== null) this.replaceChild(path, directory, name);
    this.onChange();
  }

  private replaceChild(path: string, { children }: WatchedDirectory, name: string): void {
    const before = children.get(name);
    if (before !== undefined) closeAll(before);
    children.delete(name);
    try {
      this.add(children, name, `${path}/${name}`);
    } catch {
      this.mustRebuild = true; // a limit of the kernel is reached: the rebuild reports it
    }
  }
}

/** File systems reuse inode numbers, hence the time of birth. A clone has both of its source, but not the device. */
function identify(folder: string): string {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.dev} ${stat.ino} ${stat.birthtimeMs}`;
}

function closeAll({ watcher, children }: WatchedDirectory): void {
  watcher.close();
  for (const child of children.values()) closeAll(child);
}

/** A watcher may emit an error when its directory is deleted. */
function withoutErrors(watcher: FSWatcher): FSWatcher {
  return watcher.on('error', () => undefined);
}

function isDirectory(path: string | Buffer): boolean {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) ?? false;
}

/** Names of the directories in a directory; none if it cannot be listed, which the capture reports. */
function directoriesIn(path: string): string[] {
  try {
    return entriesOf(path)
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
