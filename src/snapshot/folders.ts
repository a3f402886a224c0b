/** The top-level folders of a session folder, which is all that a capture looks at. */
export const TOP_FOLDERS: readonly string[] = ['config', 'sandbox', 'xdg'];

/** Whether a path, relative to the session folder, is one of `tops` or lies under one. */
export function isUnder(path: string, tops: readonly string[]): boolean {
  return tops.some((top) => path === top || path.startsWith(`${top}/`));
}
