/**
 * Files that agt writes beside a snapshot, outside of git: the stat cache for the next scan and the timestamp. Both are written
 * after the branch has moved. After a crash before that, or any other trouble, the next scan reads every file.
 */
import type { PreparedFile } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { systemFailure } from '../errors.ts';
import { statCacheFile } from '../layout.ts';
import { serializeManifest } from '../snapshot/manifest.ts';
import { type KnownRefs, writeKnownRefs } from './known-refs.ts';
import type { Observation } from './observe.ts';
import type { CaptureTarget } from './request.ts';
import { prepareStatCache } from './stat-cache/stat-cache.ts';
import { writeTimestamp } from './timestamp.ts';

export class CaptureNotes {
  private readonly target: CaptureTarget;
  private readonly observation: Observation;
  private prepared: PreparedFile | undefined;

  constructor(target: CaptureTarget, observation: Observation) {
    this.target = target;
    this.observation = observation;
  }

  /** Writes the stat cache under a temporary name, before its commit is complete. */
  prepareCache(commit: string): void {
    // If there is no room for it beside git's temporary files, `write` tries again when they are gone.
    tryToWrite('the stat cache', () => {
      this.prepared = this.nextCache(commit);
    });
  }

  /** After a capture that found nothing new. */
  writeUnchanged(now: Date): string[] {
    const { tip, tipTree, tipManifest, isKnown } = this.observation.refs;
    return this.writeAll(tip, isKnown ? undefined : { tip, tipTree, tipManifest }, now);
  }

  /** Returns warnings: the capture is done, even if this fails. */
  write({ commit, tree }: { commit: string; tree: string }, now: Date): string[] {
    const tipManifest = serializeManifest(this.observation.manifest);
    return this.writeAll(commit, { tip: commit, tipTree: tree, tipManifest }, now);
  }

  /** `known`: what git need not be asked next time, unless that is in the file already. */
  private writeAll(commit: string, known: Omit<KnownRefs, 'commits'> | undefined, now: Date): string[] {
    const { target, observation } = this;
    const warnings = tryToWrite('the stat cache', () => (this.prepared ?? this.nextCache(commit))?.replace());
    failurePoint('capture: stat cache written');
    if (known !== undefined)
      warnings.push(
        ...tryToWrite('the known refs', () => writeKnownRefs(target, { ...known, commits: this.commits() })),
      );
    if (observation.scanned.failed.length > 0) return warnings;
    const writeTime = () => writeTimestamp(target.agtDir, target.sessionId, now);
    return [...warnings, ...tryToWrite('the timestamp', writeTime)];
  }

  /** Commits that git has found in the repository. */
  private commits(): string[] {
    const { head, user } = this.observation.refs;
    return [head.commit, head.work, user].filter((commit) => typeof commit === 'string');
  }

  discard(): void {
    this.prepared?.discard();
  }

  /** Undefined if the file on disk already holds it. */
  private nextCache(commit: string): PreparedFile | undefined {
    const { last, index, scanned, clock } = this.observation;
    const { digest, stat } = index;
    const entries = scanned.cache ?? last.cache;
    const isSameIndex = stat !== '' && stat === last.cache?.index.stat;
    const isOnDisk = scanned.cache === undefined && commit === last.cache?.commit && isSameIndex;
    if (entries === undefined || isOnDisk) return undefined;
    const { files, directories } = entries;
    const cache = { commit, clock, index: { digest, stat }, files, directories };
    return prepareStatCache(statCacheFile(this.target.agtDir, this.target.sessionId), cache);
  }
}

/** Returns a warning if the system refuses. */
function tryToWrite(what: string, write: () => void): string[] {
  try {
    write();
    return [];
  } catch (error) {
    const reason = systemFailure(error);
    if (reason === undefined) throw error;
    return [`captured, but ${what} could not be written: ${reason}`];
  }
}
