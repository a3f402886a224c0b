/** Copies a git directory. Objects never change, so a second name of each file keeps them. */
import { constants, copyFileSync, linkSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { entriesOf } from '../../disk/folder-entries.ts';
import { systemPath } from '../../disk/long-path.ts';

/** `to` does not exist yet. */
export function copyGitDir(from: string, to: string): void {
  copyDirectory(Buffer.from(from).toString('latin1'), Buffer.from(to).toString('latin1'), false);
}

function copyDirectory(from: string, to: string, isObjects: boolean): void {
  mkdirSync(systemPath(to));
  for (const entry of entriesOf(from)) {
    const { name } = entry;
    const [source, target] = [`${from}/${name}`, `${to}/${name}`];
    if (entry.isDirectory()) copyDirectory(source, target, isObjects || name === 'objects');
    else if (entry.isSymbolicLink())
      symlinkSync(readlinkSync(systemPath(source), 'buffer'), systemPath(target));
    else if (entry.isFile() && !name.endsWith('.lock')) copyFile(source, target, isObjects);
  }
}

function copyFile(source: string, target: string, isObject: boolean): void {
  if (isObject) {
    try {
      linkSync(systemPath(source), systemPath(target));
      return;
    } catch {
      // Another file system, or one without second names.
    }
  }
  copyFileSync(systemPath(source), systemPath(target), constants.COPYFILE_FICLONE);
}
