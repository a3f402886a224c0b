/** Reads the files that a walk found to be new or changed, and stores the contents that the last snapshot lacks. */
import { lstatSync } from 'node:fs';
import { systemPath } from '../../disk/long-path.ts';
import { errorCode } from '../../errors.ts';
import { reportProgress } from '../../process/progress.ts';
import { failureReason } from '../../snapshot/failure.ts';
import type { LastSnapshot } from '../last-snapshot.ts';
import type { Source } from '../source.ts';
import type { StatData } from '../stat-cache/cached-files.ts';
import { type Content, IN_MEMORY, readContent, UnstableFile } from './content.ts';
import type { LeftOut, ScanOptions } from './scan-options.ts';

/** Content that was read, without the bytes. */
export interface HashedFile {
  readonly stat: StatData;
  readonly oid: string;
}

/** How often a file is read if it changes while it is stored. */
const ATTEMPTS = 3;

/** Files that are gone by now are in neither result. */
export async function readFiles(
  source: Source,
  paths: readonly string[],
  last: LastSnapshot,
  options: ScanOptions,
): Promise<{ read: ReadonlyMap<string, HashedFile>; failed: readonly LeftOut[] }> {
  const read = new Map<string, HashedFile>();
  const failed: LeftOut[] = [];
  for (const [i, path] of paths.entries()) {
    reportProgress('reading files', i + 1, paths.length);
    const content = await readAndStore(source, path, last, options);
    if (typeof content === 'string') failed.push({ path, reason: content });
    else if (content !== undefined) read.set(path, { stat: content.stat, oid: content.oid });
  }
  return { read, failed };
}

/** The content, or the reason why there is none; undefined if the file is gone. */
async function readAndStore(
  source: Source,
  path: string,
  last: LastSnapshot,
  { hash, store, requireRoom }: ScanOptions,
): Promise<Content | string | undefined> {
  try {
    const size = last.find(path) === undefined ? lstatSync(systemPath(source.path(path))).size : 0;
    if (size > IN_MEMORY) requireRoom?.(size);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const content = readContent(source.path(path), hash, source.isInside);
      const isNew = last.find(path)?.oid !== content.oid;
      // A log that grows between the two is stored as it was first.
      const wanted = attempt === 0 ? content : { ...content, isBeginning: true as const };
      if (!isNew || (await store(path, wanted))) return content;
    }
    return 'changes all the time';
  } catch (error) {
    if (error instanceof UnstableFile) return error.message;
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined;
    return failureReason('read', error);
  }
}
