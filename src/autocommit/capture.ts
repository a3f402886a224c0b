/**
 * Captures a session folder as one commit on its shadow branch, or finds that nothing has changed.
 *
 * Paths are bytes: inside src/autocommit a string holds one byte per character (latin1), relative to the session folder.
 * Results hold paths in readable form (path-bytes.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PreparedFile } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { systemFailure } from '../errors.ts';
import { FastImportFailed } from '../git/objects/fast-import.ts';
import { scratchRepository } from '../git/objects/scratch-objects.ts';
import type { Git } from '../git/run/git.ts';
import { statCacheFile } from '../layout.ts';
import { callsAround } from '../snapshot/history.ts';
import { IGNORED } from '../snapshot/ignore-file.ts';
import { type SnapshotManifest, serializeManifest } from '../snapshot/manifest.ts';
import { type Change, listChanges } from './describe-changes.ts';
import { type FolderParts, folderParts } from './folder-parts.ts';
import { forgetKnownRefs, type KnownRefs, writeKnownRefs } from './known-refs.ts';
import { advanceTip, recreateTip } from './lost-tip.ts';
import { ObjectStream } from './object-stream.ts';
import { type Observation, observeFolder } from './observe.ts';
import type { CaptureOptions, CaptureTarget } from './request.ts';
import type { LeftOut } from './scan/scan-options.ts';
import { directoryForGit, LostTip, type RefsAtStart } from './starting-refs.ts';
import { prepareStatCache } from './stat-cache/stat-cache.ts';
import { writeTimestamp } from './timestamp.ts';
import { listUnreachable, writeShadowCommit } from './write-commit.ts';

export interface NotCaptured {
  /** In readable form. */
  readonly path: string;
  readonly reason: string;
}

export interface CaptureResult {
  readonly outcome: 'committed' | 'unchanged' | 'would-commit';
  /** The last snapshot now; undefined if there is none yet. */
  readonly commit: string | undefined;
  readonly changes: readonly Change[];
  /** Left out by rule. The snapshot is complete without them. */
  readonly skipped: readonly NotCaptured[];
  /** Paths that `.agtignore` names; of a directory only itself. */
  readonly ignored: readonly string[];
  /** Could not be captured. The snapshot has them as the last one did, and is not complete. */
  readonly failed: readonly NotCaptured[];
  readonly warnings: readonly string[];
  /** Number of files whose content was read. */
  readonly read: number;
  /** Undefined if a later change might give no file and no directory a time after the scan. */
  readonly seen?: Seen | undefined;
}

export interface Seen {
  /** The file system's clock before the scan, in milliseconds. */
  readonly clock: number;
  /** For several processes that look at the folder at once. */
  readonly parts: FolderParts | undefined;
}

/** Tries if git refuses for what soon passes: a killed fast-import moves the tip, a `git gc` deletes. */
const ATTEMPTS = 8;
/** The first pause; each one is longer by as much. */
const PAUSE_MS = 100;

/** The caller holds the session's lock, unless it is a dry run. */
export async function capture(
  anyGit: Git,
  target: CaptureTarget,
  options: CaptureOptions,
): Promise<CaptureResult> {
  // A partial clone must not fetch: objects that are missing here are not on disk either (git 2.45 and newer).
  const git: Git = { ...anyGit, env: { ...anyGit.env, GIT_NO_LAZY_FETCH: '1' } };
  const warnings: string[] = [];
  for (let attempt = 1; ; attempt++) {
    const objects = openObjects(git, target, options, attempt);
    try {
      const result = await tryCapture(git, target, options, objects);
      return { ...result, warnings: [...warnings, ...result.warnings] };
    } catch (error) {
      if (error instanceof LostTip && warnings.length === 0 && options.dryRun !== true) {
        warnings.push(await recreateTip(git, target));
        continue;
      }
      if (error instanceof FastImportFailed && error.isLostCommit && forgetKnownRefs(target)) continue;
      const mayPass = error instanceof FastImportFailed && error.isTransient && attempt < ATTEMPTS;
      if (!mayPass) throw error;
    } finally {
      await objects.close();
    }
    await sleep(PAUSE_MS * attempt);
  }
}

function openObjects(git: Git, target: CaptureTarget, { scratch }: CaptureOptions, attempt: number) {
  if (scratch === undefined)
    return new ObjectStream(git, target.commonDir, directoryForGit(git, target), attempt);
  const { dir } = scratch;
  return new ObjectStream(scratchRepository({ git, dir }, target.startCommit), dir, dir);
}

async function tryCapture(
  git: Git,
  target: CaptureTarget,
  options: CaptureOptions,
  objects: ObjectStream,
): Promise<CaptureResult> {
  const storesNothing = options.dryRun && options.scratch === undefined;
  let observation = await observeFolder(git, target, options, storesNothing ? undefined : objects);
  failurePoint('capture: scanned');
  if (!options.dryRun && (await advanceTip(git, target, observation.refs)))
    observation = await observeFolder(git, target, options, objects);
  const { refs, last } = observation;
  // Before a snapshot names it.
  const kept = options.dryRun ? [] : keepGit(target, observation);
  const summary = summarize(target, observation);
  const said = [...summary.warnings, ...kept];
  const result = { ...summary, warnings: said, seen: seenBy(observation, options) };
  if (!(await needsCommit(git, observation, options))) {
    const warnings = options.dryRun ? [] : writeNotes(target, observation, refs, options.now);
    return { ...result, outcome: 'unchanged', commit: refs.tip, warnings: [...said, ...warnings] };
  }
  if (storesNothing)
    return { ...result, outcome: 'would-commit', commit: last.isFirst ? undefined : refs.tip };
  if (options.dryRun) {
    const { commit } = await writeShadowCommit(git, target, objects, observation, options, () => {});
    return { ...result, outcome: 'would-commit', commit };
  }
  const { commit, warnings } = await commitSnapshot(git, target, objects, observation, options);
  return { ...result, outcome: 'committed', commit, warnings: [...said, ...warnings] };
}

function summarize(
  target: CaptureTarget,
  { refs, last, index, scanned, manifest }: Observation,
): Omit<CaptureResult, 'outcome' | 'commit'> {
  const isIgnored = ({ reason }: LeftOut) => reason === IGNORED;
  return {
    changes: listChanges(last, scanned, manifest),
    skipped: readable(scanned.skipped.filter((entry) => !isIgnored(entry))),
    ignored: readable(scanned.skipped.filter(isIgnored)).map(({ path }) => path),
    failed: readable(scanned.failed),
    warnings: [
      ...last.warnings,
      ...refs.warnings,
      ...(target.attached?.hasLostGit() === true ? [LOST_REPOSITORY] : []),
      ...index.warnings,
      ...refs.gitDirFiles.unreadable.map(({ path, reason }) => `${path} ${reason}; agt did not capture it`),
      ...warnOfMovedBranch(target, refs),
    ],
    read: scanned.readCount,
  };
}

/** Undefined if the scan has not seen everything, or if times cannot prove that nothing changed (see `CaptureResult.seen`). */
function seenBy(
  { last, scanned, clock, isMapped }: Observation,
  { siblings }: CaptureOptions,
): Seen | undefined {
  const { files, directories } = scanned.cache ?? last.cache ?? {};
  const isComplete = siblings === undefined && scanned.failed.length === 0 && !isMapped;
  if (!isComplete || files === undefined || directories?.haveTimes() !== true) return undefined;
  return { clock, parts: folderParts(files, directories) };
}

function readable(paths: readonly LeftOut[]): NotCaptured[] {
  return paths
    .map(({ path, reason }) => ({ path: displayPath(path), reason }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

export const LOST_REPOSITORY = 'its git repository is gone; to bring it back: agt restore @';

function warnOfMovedBranch(target: CaptureTarget, { shadow, tip }: RefsAtStart): string[] {
  if (shadow === tip) return [];
  const branch = target.shadowRef.replace('refs/heads/', '');
  const change = shadow === undefined ? 'deleted' : `moved to ${shadow.slice(0, 10)}`;
  return [`${branch} was ${change}, and not by agt; agt continues it from ${tip.slice(0, 10)}`];
}

async function needsCommit(
  git: Git,
  { refs, last, index, scanned, manifest }: Observation,
  options: CaptureOptions,
): Promise<boolean> {
  const hasNewLabel = options.label !== undefined && options.label !== last.manifest?.label;
  const hasNews = hasNewLabel || (options.call ?? options.restored) !== undefined;
  return (
    scanned.writes.size + scanned.deletions.length > 0 ||
    index.digest !== last.indexDigest ||
    !isSameFolder(last.manifest, manifest) ||
    refs.shadow !== refs.tip ||
    (hasNews && options.onlyIfChanged !== true) ||
    (await listUnreachable(git, options.keep ?? [], [refs.tip, refs.user ?? refs.tip])).length > 0 ||
    (options.call !== undefined && (await isEndOfCall(git, refs.tip, options)))
  );
}

/** A guard may have captured the changes of the call. The snapshot at its end says which call that was. */
async function isEndOfCall(git: Git, tip: string, { conversation = '' }: CaptureOptions): Promise<boolean> {
  return (await callsAround(git, tip)).some((name) => name.endsWith(`.${conversation}`));
}

/** Compares everything but label and tool: that they are missing now is no change. */
function isSameFolder(before: SnapshotManifest | undefined, now: SnapshotManifest): boolean {
  const unnamed = (manifest: SnapshotManifest) => serializeManifest({ ...manifest, label: null, tool: null });
  return before !== undefined && unnamed(before) === unnamed(now);
}

async function commitSnapshot(
  git: Git,
  target: CaptureTarget,
  objects: ObjectStream,
  observation: Observation,
  options: CaptureOptions,
): Promise<{ commit: string; warnings: string[] }> {
  let prepared: PreparedFile | undefined;
  try {
    const { commit, tree } = await writeShadowCommit(git, target, objects, observation, options, (name) => {
      // If there is no room for it beside git's temporary files, `writeNotes` tries again when they are gone.
      tryToWrite('the stat cache', () => {
        prepared = prepareCache(target, observation, name);
      });
    });
    const tip = { tip: commit, tipTree: tree, tipManifest: serializeManifest(observation.manifest) };
    return { commit, warnings: writeNotes(target, observation, tip, options.now, prepared) };
  } catch (error) {
    prepared?.discard();
    throw error;
  }
}

/** Also what sessions have done, which is nothing new for the folder. It warns where the folder has something new. */
function keepGit(
  { attached }: CaptureTarget,
  { refs, last, index, scanned, manifest }: Observation,
): string[] {
  const isSame =
    manifest.git_dir_digest === last.manifest?.git_dir_digest && index.digest === last.indexDigest;
  const inside = scanned.skipped.map(({ path }) => path);
  const warnings = attached?.keepGit(refs.userGit, inside) ?? [];
  return isSame ? [] : warnings;
}

/** The stat cache for the next scan, under a temporary name. Undefined if the file on disk already holds it. */
function prepareCache(
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

/**
 * Writes what the next capture wants to know, after the branch has moved. After a crash before that, or any other trouble,
 * the next scan reads every file. `tip` is the snapshot that the folder is in now. Returns warnings: the capture is done.
 */
function writeNotes(
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
