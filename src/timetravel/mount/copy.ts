/** Writes a snapshot as a folder of files that nobody may write, where agt cannot mount a file system. */
import { chmodSync, lstatSync } from 'node:fs';
import { checkOutSnapshot } from '../../checkout/checkout.ts';
import { entriesOf } from '../../disk/folder-entries.ts';
import { systemPath } from '../../disk/long-path.ts';
import type { Git } from '../../git/run/git.ts';
import type { Snapshot } from '../../snapshot/history.ts';

/** `complete` gets the time of the last change of a file. */
export async function copySnapshot(
  git: Git,
  { commit, time }: Snapshot,
  directory: string,
  complete: (time: number) => void,
): Promise<void> {
  const seconds = Math.floor(time.getTime() / 1000);
  await checkOutSnapshot(git, commit, directory, () => seconds);
  const top = Buffer.from(directory).toString('latin1');
  complete(Math.max(...entriesOf(top).map(({ name }) => protect(`${top}/${name}`))));
}

const WRITE = 0o222;

/** Takes every right to write. Returns the time of the last change of a file. */
function protect(path: string): number {
  let last = 0;
  const stat = lstatSync(systemPath(path));
  if (stat.isDirectory())
    for (const { name } of entriesOf(path)) last = Math.max(last, protect(`${path}/${name}`));
  if (stat.isFile() || stat.isDirectory()) chmodSync(systemPath(path), stat.mode & 0o7777 & ~WRITE);
  return stat.isDirectory() ? last : Math.max(last, lstatSync(systemPath(path)).ctimeMs);
}
