/** The entries of a directory, however deep it is. Paths hold one byte per character. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { unlessMissing } from '../errors.ts';
import { systemPath } from './long-path.ts';

export interface Entry extends Pick<Dirent, 'isDirectory' | 'isSymbolicLink' | 'isFile'> {
  readonly name: string;
}

/** Names as bytes: where the file system tells no kinds of entries, Node would take latin1 for UTF-8. */
export function entriesOf(directory: string): Entry[] {
  return readdirSync(systemPath(directory), { withFileTypes: true, encoding: 'buffer' }).map((entry) => ({
    name: entry.name.toString('latin1'),
    isDirectory: () => entry.isDirectory(),
    isSymbolicLink: () => entry.isSymbolicLink(),
    isFile: () => entry.isFile(),
  }));
}

/** Of the JSON files in a directory, without `.json`; none without the directory. */
export function jsonNamesIn(directory: string): string[] {
  const names = unlessMissing(() => readdirSync(directory)) ?? [];
  return names.filter((name) => name.endsWith('.json')).map((name) => basename(name, '.json'));
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
