/** The top-level folders of a session folder. A snapshot holds nothing else. */
export const TOP_FOLDERS: readonly string[] = ['config', 'sandbox', 'xdg'];

/** Why an entry beside them is not captured. */
export const BESIDE = 'lies beside sandbox/, xdg/ and config/';

/** Whether agt makes an entry of this name in a session folder, for a moment. */
export function isTemporaryEntry(name: string): boolean {
  return name.startsWith('.agt-');
}

/** Whether a path, relative to the session folder, is one of `topFolders` or below one. */
export function isUnder(path: string, topFolders: readonly string[]): boolean {
  return topFolders.some((top) => path === top || path.startsWith(`${top}/`));
}

/** Returns a function that tells whether a path is one of `paths` or below one. All hold one byte per character. */
export function underAny(paths: readonly string[]): (path: string) => boolean {
  if (paths.length === 0) return () => false;
  const known = new Set(paths);
  return (path) => {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (known.has(path.slice(0, end))) return true;
    }
    return false;
  };
}

/** The type of a snapshot that is mounted as a folder, in the table of mounts. */
export const MOUNT_TYPE = 'fuse.agt';
