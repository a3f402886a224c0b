/**
 * Of what git ignores in a folder, that which people cannot get back by a build: `.env`, a local database, notes, settings
 * of an editor. A snapshot takes the smallest files and whole directories, as far as they are few, and no build output.
 */
import { lstatSync } from 'node:fs';
import { ignoredFiles } from '../autocommit/observe.ts';
import type { CaptureTarget } from '../autocommit/request.ts';
import { entriesOf } from '../disk/folder-entries.ts';
import { systemPath } from '../disk/long-path.ts';
import { attempt } from '../errors.ts';
import { isBuildOutput } from '../snapshot/build-output.ts';

export interface Amount {
  readonly files: number;
  readonly bytes: number;
}

/** Those to take. `pathOf`: where it is, with one byte per character, too. */
export function smallOnes(
  ignored: Iterable<string>,
  pathOf: (path: string) => string,
  most: Amount,
): string[] {
  if (most.files === 0 || most.bytes === 0) return [];
  const shareOf = ({ files, bytes }: Amount) => Math.max(files / most.files, bytes / most.bytes);
  const measured = [...ignored]
    .filter((path) => !isBuildOutput(path.slice(path.lastIndexOf('/') + 1)))
    .flatMap((path) => {
      const amount = measure(pathOf(path), most);
      return amount === undefined ? [] : [{ path, ...amount, share: shareOf(amount) }];
    })
    .sort((a, b) => a.share - b.share || (a.path < b.path ? -1 : 1));
  const sum = { files: 0, bytes: 0 };
  return measured.flatMap(({ path, files, bytes }) => {
    if (sum.files + files > most.files || sum.bytes + bytes > most.bytes) return [];
    sum.files += files;
    sum.bytes += bytes;
    return [path];
  });
}

/** Undefined for more than `most`, for what cannot be read, and where another file system begins. */
export function measure(path: string, most: Amount): Amount | undefined {
  return attempt(() => {
    const { dev } = lstatSync(systemPath(path));
    const amount = { files: 0, bytes: 0 };
    const waiting = [path];
    for (let seen = 1; waiting.length > 0; seen++) {
      const next = waiting.pop() as string;
      const stat = lstatSync(systemPath(next));
      if (stat.isDirectory()) for (const { name } of entriesOf(next)) waiting.push(`${next}/${name}`);
      else {
        amount.files += 1;
        amount.bytes += stat.size;
      }
      // An empty directory counts as well.
      if (seen > most.files || amount.bytes > most.bytes || stat.dev !== dev) return undefined;
    }
    return amount;
  });
}

/** Nobody counts further in a directory that is left out. */
const MOST_COUNTED: Amount = { files: 200_000, bytes: Number.POSITIVE_INFINITY };

export interface LeftOutByGit extends Partial<Amount> {
  /** Relative to the session folder, one byte per character. */
  readonly path: string;
}

/** Ignored files of an attached folder that no snapshot takes, the largest last; too many have no amount. */
export async function ignoredAndLeftOut(target: CaptureTarget): Promise<LeftOutByGit[]> {
  const found = await ignoredFiles(target, {});
  const folder = Buffer.from(target.folder).toString('latin1');
  return [...(found?.ignored ?? [])]
    .filter((path) => found?.leavesOut(path) === true)
    .map((path) => ({ path, ...measure(`${folder}/${path}`, MOST_COUNTED) }))
    .sort((a, b) => (a.bytes ?? Number.POSITIVE_INFINITY) - (b.bytes ?? Number.POSITIVE_INFINITY));
}
