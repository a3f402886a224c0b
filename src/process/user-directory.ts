/**
 * The directory of the user's shell, where the commands that agt advises have to work. `-C` changes the current one, and so
 * does agt when it deletes that.
 */
let ofShell: string | undefined;

/** Called before agt changes directory. */
export function noteUserDirectory(directory: string): void {
  ofShell = directory;
}

export function userDirectory(): string {
  return ofShell ?? process.cwd();
}
