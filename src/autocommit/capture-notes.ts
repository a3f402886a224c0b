/**
 * Files that agt writes beside a snapshot, outside of git: the stat cache for the next scan and the timestamp. Both are written
 * after the branch has moved. After a crash before that, or any other trouble, the next scan reads every file.
 */
import type { PreparedFile } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { systemFailure } from '../errors.ts';
import { statCacheFile } from '../layout.ts';
import { type KnownRefs, writeKnownRefs } from './known-refs.ts';
import type { Observation } from './observe.ts';
import type { CaptureTarget } from './request.ts';
import { prepareStatCache } from './stat-cache/stat-cache.ts';
import { writeTimestamp } from './timestamp.ts';

/** The stat cache for the next scan, under a temporary name. Undefined if the file on disk already holds it. */
export function prepareCache(
  target: CaptureTarget,
  { last, index: { digest, stat }, scanned, clock }: Observation,
  commit: string,
): PreparedFile | undefined {
  const entries = scanned.cache ?? last.cache;
  const isSameIndex = stat !== '' && stat === last.cache?.index.stat;
  const isOnDisk = scanned.cache === undefined && commit === last.cache?.commit && isSameIndex;
  if (entries === undefined || isOnDisk) return undefined;
  const { files, directories } = entries;
  const cache = { commit, clock, index: { digest, stat }, files, directories };
  return prepareStatCache(statCacheFile(target.agtDir, target.sessionId), cache);
}

/** `tip` is the snapshot that the folder is in now. Returns warnings: the capture is done, even if this fails. */
export function writeNotes(
  target: CaptureTarget,
  observation: Observation,
  { tip, tipTree, tipManifest }: Omit<KnownRefs, 'commits'>,
  now: Date,
  prepared?: PreparedFile,
): string[] {
  const { refs, scanned } = observation;
  const cache = () => prepared ?? prepareCache(target, observation, tip);
  const warnings = tryToWrite('the stat cache', () => cache()?.replace());
  failurePoint('capture: stat cache written');
  if (!refs.isKnown || tip !== refs.tip) {
    // Commits that git has found in the repository.
    const commits = [refs.head.commit, refs.head.work, refs.user].filter((name) => typeof name === 'string');
    const known = { tip, tipTree, tipManifest, commits };
    warnings.push(...tryToWrite('the known refs', () => writeKnownRefs(target, known)));
  }
  if (scanned.failed.length > 0) return warnings;
  const writeTime = () => writeTimestamp(target.agtDir, target.sessionId, now);
  return [...warnings, ...tryToWrite('the timestamp', writeTime)];
}

/** Returns a warning if the system refuses. */
export function tryToWrite(what: string, write: () => void): string[] {
  try {
    write();
    return [];
  } catch (error) {
    const reason = systemFailure(error);
    if (reason === undefined) throw error;
    return [`captured, but ${what} could not be written: ${reason}`];
  }
}
