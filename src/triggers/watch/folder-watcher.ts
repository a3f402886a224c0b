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
import { attempt, succeeds } from '../../errors.ts';
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

export type FolderWatcher = ReturnType<typeof watchFolder>;

/** `folder` is absolute. @throws the system's error if a limit of the kernel is reached; nothing is watched then. */
export function watchFolder(folder: string, sandbox: string, onChange: () => void) {
  /** One byte per character, since names of files are bytes. */
  const folderBytes = Buffer.from(folder).toString('latin1');
  const identity = identify(folder);
  /** Of the session folder itself and of the sandbox's git directory. */
  let outerWatchers: FSWatcher[] = [];
  const topFolders = new Map<string, WatchedDirectory>();
  let ignores: ((path: string, isDirectory: boolean) => boolean) | undefined;
  let eventCount = 0;
  let mustRebuild = false;

  const close = () => {
    for (const watcher of outerWatchers) watcher.close();
    for (const directory of topFolders.values()) closeAll(directory);
    outerWatchers = [];
    topFolders.clear();
  };

  const rebuild = () => {
    close();
    eventCount = 0;
    mustRebuild = false;
    try {
      watchSessionFolder();
      watchGitDirectory();
      ignores = readIgnoreFile(folder)?.ignores;
      for (const top of TOP_FOLDERS) add(topFolders, top, top);
    } catch (error) {
      close();
      throw error;
    }
  };

  const watchSessionFolder = () => {
    const watcher = watch(folder, (event, name) => {
      if (name !== null && name !== IGNORE_FILE && !TOP_FOLDERS.includes(name)) return;
      if (name === IGNORE_FILE || event === 'rename') mustRebuild = true;
      onChange();
    });
    outerWatchers.push(withoutErrors(watcher));
  };

  const watchGitDirectory = () => {
    const gitDir = worktreeGitDir(sandbox);
    if (gitDir === undefined) return;
    const watcher = watch(gitDir, (_, name) => {
      if (name === null || GIT_FILES.test(name)) onChange();
    });
    outerWatchers.push(withoutErrors(watcher));
  };

  /** Watches `path` and all directories in it, if it is a directory. */
  const add = (siblings: Map<string, WatchedDirectory>, name: string, path: string) => {
    const absolute = systemPath(`${folderBytes}/${path}`);
    if (name === '.git' || !isDirectory(absolute) || ignores?.(path, true)) return;
    const children = new Map<string, WatchedDirectory>();
    if (process.platform !== 'linux') {
      const tree = watch(absolute, { recursive: true }, onChange);
      siblings.set(name, { watcher: withoutErrors(tree), children });
      return;
    }
    try {
      const watcher = watch(absolute, { encoding: 'latin1' }, (event, child) =>
        onDirectoryEvent(path, children, event, child),
      );
      siblings.set(name, { watcher: withoutErrors(watcher), children });
    } catch (error) {
      if (isDirectory(absolute)) throw error;
      return; // deleted meanwhile
    }
    for (const child of directoriesIn(`${folderBytes}/${path}`)) add(children, child, join(path, child));
  };

  const onDirectoryEvent = (
    path: string,
    children: Map<string, WatchedDirectory>,
    event: string,
    name: string | null,
  ) => {
    eventCount += 1;
    if (name === '.git' || (name !== null && ignores?.(`${path}/${name}`, false))) return;
    if (event === 'rename' && name !== null) replaceChild(path, children, name);
    onChange();
  };

  const replaceChild = (path: string, children: Map<string, WatchedDirectory>, name: string) => {
    const before = children.get(name);
    if (before !== undefined) closeAll(before);
    children.delete(name);
    // A limit of the kernel may be reached: the rebuild reports it.
    if (!succeeds(() => add(children, name, `${path}/${name}`))) mustRebuild = true;
  };

  rebuild();
  return {
    close,
    /** True if the folder was deleted or replaced by another one. */
    isGone: () => identify(folder) !== identity,
    /** Call it before a capture. @throws as this function. */
    rebuildIfNeeded: () => {
      if (mustRebuild || eventCount >= INOTIFY_QUEUE_LENGTH) rebuild();
    },
  };
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
  const entries = attempt(() => entriesOf(path).filter((entry) => entry.isDirectory()));
  return entries?.map(({ name }) => name) ?? [];
}
