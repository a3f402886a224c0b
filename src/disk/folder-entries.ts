/** What a folder holds, as deep as it may be. Paths hold one byte per character. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { systemPath } from './long-path.ts';

export function entriesOf(directory: string): Dirent<string>[] {
  return readdirSync(systemPath(directory), { withFileTypes: true, encoding: 'latin1' as BufferEncoding });
}

/** Whether there is anything but directories in `path`, an absolute one as Node has it. */
export function holdsFiles(path: string): boolean {
  const directory = Buffer.from(path).toString('latin1');
  if (lstatSync(systemPath(directory), { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return holdsFilesWithin(directory);
}

function holdsFilesWithin(directory: string): boolean {
  return entriesOf(directory).some(
    (entry) => !entry.isDirectory() || holdsFilesWithin(`${directory}/${entry.name}`),
  );
}
