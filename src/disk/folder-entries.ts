/** The entries of a directory, however deep it is. Paths hold one byte per character. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { systemPath } from './long-path.ts';

export function entriesOf(directory: string): Dirent<string>[] {
  return readdirSync(systemPath(directory), { withFileTypes: true, encoding: 'latin1' as BufferEncoding });
}

/** Whether anything but directories is in or below `path`, an absolute path as Node has it. */
export function holdsFiles(path: string): boolean {
  const directory = Buffer.from(path).toString('latin1');
  if (lstatSync(systemPath(directory), { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return directoryHoldsFiles(directory);
}

function directoryHoldsFiles(directory: string): boolean {
  return entriesOf(directory).some(
    (entry) => !entry.isDirectory() || directoryHoldsFiles(`${directory}/${entry.name}`),
  );
}
