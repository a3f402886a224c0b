/** The top-level folders of a session folder. A snapshot holds nothing else. */
export const TOP_FOLDERS: readonly string[] = ['config', 'sandbox', 'xdg'];

/** Whether a path, relative to the session folder, is one of `topFolders` or below one. */
export function isUnder(path: string, topFolders: readonly string[]): boolean {
  return topFolders.some((top) => path === top || path.startsWith(`${top}/`));
}
