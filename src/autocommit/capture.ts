/**
 * Captures a session folder as one commit on its shadow branch, or finds that nothing has changed.
 *
 * Paths are bytes: inside src/autocommit a string holds one byte per character (latin1), relative to the session
 * folder; what is handed out for printing is in the readable form of display.ts.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { PreparedFile } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { placeCheck } from '../disk/is-inside.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { systemFailure } from '../errors.ts';
import { FastImportFailed } from '../git/objects/fast-import.ts';
import { type Git, inDirectory } from '../git/run/git.ts';
import { statCacheFile } from '../repository/layout.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { IGNORED, readIgnoreFile, textOf } from '../snapshot/ignore-file.ts';
import { type CapturedManifest, serialize } from '../snapshot/manifest.ts';
import { type Change, describeChanges } from './compare.ts';
import { describeFolder } from './describe.ts';
import { type IndexDigest, readIndex } from './index.ts';
import { type Previous, readLeftManifest, readPrevious } from './last-snapshot.ts';
import type { CaptureOptions, CaptureTarget } from './request.ts';
import { type Scanned, scan } from './scan/scan.ts';
import { type Circumstances, readCircumstances } from './starting-refs.ts';
import { confirmAhead } from './stat-cache/refresh-in-threads.ts';
import { prepareScanManifest, type ScanManifest } from './stat-cache/scan-manifest.ts';
import { writeTimestamp } from './timestamp.ts';
import { listUnreachable, ObjectStream, writeShadowCommit } from './write-commit.ts';

export interface NotCaptured {
  /** Readable form. */
  readonly path: string;
  readonly reason: string;
}

export interface CaptureResult {
  readonly outcome: 'committed' | 'unchanged' | 'would-commit';
  /** The new commit, or the one that still stands; undefined where there is none yet. */
  readonly commit: string | undefined;
  readonly changes: readonly Change[];
  /** Left out by rule: the capture is complete without. */
  readonly skipped: readonly NotCaptured[];
  /** What `.agtignore` names; a directory once. */
  readonly ignored: readonly string[];
  /** What could not be captured, and stays in the state as it last was: the capture is not complete. */
  readonly failed: readonly NotCaptured[];
  readonly warnings: readonly string[];
  /** How many files' contents were read; of the others it was known that they had not changed. */
  readonly read: number;
}

/** What a folder is now, beside what was captured last. */
export interface Observation {
  readonly at: Circumstances;
  readonly previous: Previous;
  readonly index: IndexDigest;
  readonly scanned: Scanned;
  readonly manifest: CapturedManifest;
}

/** Looks without storing anything. */
export function observeFolder(
  git: Git,
  target: CaptureTarget,
  options: CaptureOptions,
): Promise<Observation> {
  return observe(
    git,
    target,
    { ...options, dryRun: true },
    new ObjectStream(git, target.commonDir, target.sandbox),
  );
}

/** The caller holds the session's lock, unless it is a dry run. */
export async function capture(
  anyGit: Git,
  target: CaptureTarget,
  options: CaptureOptions,
): Promise<CaptureResult> {
  // In a partial clone nothing is fetched for a capture: what is missing here is not on disk either (git 2.45 and newer).
  const git: Git = { ...anyGit, env: { ...anyGit.env, GIT_NO_LAZY_FETCH: '1' } };
  for (let attempt = 1; ; attempt++) {
    const objects = new ObjectStream(git, target.commonDir, target.sandbox);
    try {
      return await captureInto(git, target, options, objects);
    } catch (error) {
      const mayPass = error instanceof FastImportFailed && error.isTransient && attempt < ATTEMPTS;
      if (!mayPass) throw error;
    } finally {
      await objects.close();
    }
    await sleep(PAUSE_MS * attempt);
  }
}

/** A fast-import whose agt was killed may still move the tip; a `git gc` may take away what it has just written. */
const ATTEMPTS = 8;
const PAUSE_MS = 100;

async function observe(
  git: Git,
  target: CaptureTarget,
  options: CaptureOptions,
  objects: ObjectStream,
): Promise<Observation> {
  const ignore = readIgnoreFile(target.folder);
  const tops = options.siblings ?? TOP_FOLDERS;
  const isWhole = tops === TOP_FOLDERS && options.rereadSince === undefined;
  const left = readLeftManifest(target);
  const confirming = isWhole ? confirmAhead(target.folder, left.manifest, textOf(ignore)) : undefined;
  const answered = readCircumstances(git, target);
  confirming?.run();
  const at = await answered;
  const previous = await readPrevious(git, target, at, left);
  const index = await readIndex(
    inDirectory(git, target.sandbox),
    at.gitDir,
    at.tip.length / 2,
    previous.cache,
  );
  const folder = Buffer.from(target.folder).toString('latin1');
  const isHere = placeCheck(folder);
  const scanned = await scan(target, previous, {
    hash: at.tip.length === 64 ? 'sha256' : 'sha1',
    maxFileSize: options.maxFileSize,
    tops,
    ignore,
    rereadSince: options.rereadSince,
    isHere,
    confirming,
    keep: async (path, content) =>
      options.dryRun === true || objects.keep(`${folder}/${path}`, content, isHere),
  });
  const manifest = describeFolder(scanned, previous.manifest, {
    session: target.sessionId,
    head: at.head,
    operation: at.operation,
    label: options.label,
    tool: options.tool,
    ignore: ignore?.lines,
    tops,
  });
  return { at, previous, index, scanned, manifest };
}

async function captureInto(
  git: Git,
  target: CaptureTarget,
  options: CaptureOptions,
  objects: ObjectStream,
): Promise<CaptureResult> {
  const { at, previous, index, scanned, manifest } = await observe(git, target, options, objects);
  const warnings = [...previous.warnings, ...movedBranch(target, at)];
  const result = {
    changes: describeChanges(previous, scanned, manifest),
    skipped: readable(scanned.skipped.filter(({ reason }) => reason !== IGNORED)),
    ignored: readable(scanned.skipped.filter(({ reason }) => reason === IGNORED)).map(({ path }) => path),
    failed: readable(scanned.failed),
    read: scanned.read,
    warnings,
  };
  const marked =
    (await listUnreachable(git, options.keep ?? [], [at.tip, at.user])).length > 0 ||
    options.restored !== undefined ||
    (options.label !== undefined &&
      options.label !== previous.manifest?.label &&
      options.onlyIfChanged !== true);
  const same =
    scanned.writes.size + scanned.deletions.length === 0 &&
    previous.index === index.digest &&
    sameFolder(previous.manifest, manifest);
  const prepare = (commit: string) => prepareManifest(target, commit, previous.cache, index, scanned);
  // After the branch: a crash before this costs a scan, as does whatever goes wrong with it.
  const remember = (prepareNow: () => PreparedFile | undefined) => {
    warnings.push(...noteDown('what was seen', () => prepareNow()?.replace()));
    failurePoint('capture: scan manifest written');
    if (scanned.failed.length > 0) return;
    const { agtDir, sessionId } = target;
    warnings.push(...noteDown('the time of it', () => writeTimestamp(agtDir, sessionId, options.now)));
  };
  failurePoint('capture: scanned');
  if (same && !marked && at.shadow === at.tip) {
    if (!options.dryRun) remember(() => prepare(at.tip));
    return { outcome: 'unchanged', commit: at.tip, ...result };
  }
  if (options.dryRun)
    return { outcome: 'would-commit', commit: previous.isFirst ? undefined : at.tip, ...result };

  let prepared: PreparedFile | undefined;
  const contents = { at, previous, scanned, index, manifest: serialize(manifest), options };
  try {
    const commit = await writeShadowCommit(git, target, objects, contents, (name) => {
      // Where there is no room beside git's temporary files, there may be when they are gone.
      noteDown('what was seen', () => {
        prepared = prepare(name);
      });
    });
    remember(() => prepared ?? prepare(commit));
    return { outcome: 'committed', commit, ...result };
  } catch (error) {
    prepared?.discard();
    throw error;
  }
}

/** The warning where the system refuses. The capture stands by then. */
function noteDown(what: string, note: () => void): string[] {
  try {
    note();
    return [];
  } catch (error) {
    const reason = systemFailure(error);
    if (reason === undefined) throw error;
    return [`captured, but ${what} could not be noted down: ${reason}`];
  }
}

/** What the next scan may rely on; undefined where that stands there already. */
function prepareManifest(
  target: CaptureTarget,
  commit: string,
  cache: ScanManifest | undefined,
  { digest, stat }: IndexDigest,
  { known, clock }: Scanned,
): PreparedFile | undefined {
  const seen = known ?? cache;
  const isThere = known === undefined && commit === cache?.commit && stat !== '' && stat === cache.index.stat;
  if (seen === undefined || isThere) return undefined;
  const { files, places } = seen;
  return prepareScanManifest(statCacheFile(target.agtDir, target.sessionId), {
    commit,
    clock,
    index: { digest, stat },
    files,
    places,
  });
}

function readable(paths: readonly NotCaptured[]): NotCaptured[] {
  return paths
    .map(({ path, reason }) => ({ path: displayPath(path), reason }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function movedBranch(target: CaptureTarget, at: Circumstances): string[] {
  if (at.shadow === at.tip) return [];
  const branch = target.shadowRef.replace('refs/heads/', '');
  const what = at.shadow === undefined ? 'deleted' : `moved to ${at.shadow.slice(0, 10)}`;
  return [`${branch} was ${what} by something else than agt; it goes on from ${at.tip.slice(0, 10)}`];
}

/** Labels and tools name a snapshot; a snapshot without one is no change from a snapshot with one. */
function sameFolder(before: CapturedManifest | undefined, now: CapturedManifest): boolean {
  const bare = (manifest: CapturedManifest) => serialize({ ...manifest, label: null, tool: null });
  return before !== undefined && bare(before) === bare(now);
}
