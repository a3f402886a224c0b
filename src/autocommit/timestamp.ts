/** `timestamps/<id>`: Unix seconds of the last complete autocommit, for scripts and for `agt status`. */
import { readFileSync, statSync } from 'node:fs';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { unlessMissing } from '../errors.ts';
import { frontSeenFile, timestampFile } from '../layout.ts';

/** Not flushed: every autocommit writes it, even if nothing has changed. After a power cut it may be damaged. */
export function writeTimestamp(agtDir: string, sessionId: string, now: Date): void {
  writeFileAtomic(timestampFile(agtDir, sessionId), `${Math.floor(now.getTime() / 1000)}\n`, { cache: true });
}

/** Undefined before the first one, and if the file is lost or damaged. The front notes by a file's time that it looked. */
export function readTimestamp(agtDir: string, sessionId: string): Date | undefined {
  const written = readWritten(agtDir, sessionId);
  const seen = statSync(frontSeenFile(agtDir, sessionId), { throwIfNoEntry: false })?.mtime;
  return written !== undefined && seen !== undefined && seen > written ? seen : written;
}

/** Whether agt has captured everything since. The times of the files are finer than the seconds in them. */
export function isCompleteSince(agtDir: string, sessionId: string, since: Date): boolean {
  return [timestampFile(agtDir, sessionId), frontSeenFile(agtDir, sessionId)].some((file) => {
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat !== undefined && stat.mtimeMs > since.getTime();
  });
}

function readWritten(agtDir: string, sessionId: string): Date | undefined {
  const text = unlessMissing(() => readFileSync(timestampFile(agtDir, sessionId), 'utf8'));
  return /^\d+\n$/.test(text ?? '') ? new Date(Number(text) * 1000) : undefined;
}
