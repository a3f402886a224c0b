/** The session folder as the last capture left it, for a checkout that must not replace anything newer. */
import type { Stats } from 'node:fs';
import { linkedSandbox } from '../../autocommit/observe.ts';
import { readContent } from '../../autocommit/scan/content.ts';
import type { CachedFiles } from '../../autocommit/stat-cache/cached-files.ts';
import { readStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import type { TargetFolder } from '../../checkout/folder-writer.ts';
import { insideCheck } from '../../disk/is-inside.ts';
import { statCacheFile } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';

export function openSessionFolder(repository: Repository, record: SessionRecord): TargetFolder {
  const files = readStatCache(statCacheFile(repository.agtDir, record.session_id))?.files;
  const folder = Buffer.from(sessionFolder(record)).toString('latin1');
  return {
    path: folder,
    linked: linkedSandbox(record),
    isCaptured: (path, stat) => {
      const row = files?.find(path) ?? -1;
      if (files === undefined || row < 0) return false;
      if (files.isSame(row, stat, Number.POSITIVE_INFINITY)) return true;
      return Number.isNaN(files.mtimeMs(row)) && hasContent(record, path, stat, files.oid(row));
    },
  };
}

/** Compares the content of a file whose stat data would not show a change. */
function hasContent(
  record: SessionRecord,
  path: string,
  stat: Stats,
  oid: ReturnType<CachedFiles['oid']>,
): boolean {
  if (!stat.isFile()) return false;
  try {
    const hash = oid.length === 64 ? 'sha256' : 'sha1';
    const folder = Buffer.from(sessionFolder(record)).toString('latin1');
    return readContent(`${folder}/${path}`, hash, insideCheck(folder, linkedSandbox(record))).oid === oid;
  } catch {
    return false;
  }
}
