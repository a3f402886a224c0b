/** Compares a session folder with its last snapshot. */
import { lstatSync } from 'node:fs';
import { readFileClock } from '../disk/file-clock.ts';
import { systemPath } from '../disk/long-path.ts';
import type { LinkedEntry } from '../disk/open-directories.ts';
import { jsonPath, pathFromJson } from '../disk/path-bytes.ts';
import { filesMappedForWriting } from '../disk/processes.ts';
import { hashNameOf } from '../git/objects/hash.ts';
import { type Git, gitAnswer, inDirectory, resolveObject } from '../git/run/git.ts';
import { isUnder, TOP_FOLDERS } from '../snapshot/folders.ts';
import { OWN } from '../snapshot/format.ts';
import { gitDirDigest } from '../snapshot/git-dir-files.ts';
import { type IgnoreFile, readIgnoreFile } from '../snapshot/ignore-file.ts';
import type { SnapshotManifest } from '../snapshot/manifest.ts';
import { type LastSnapshot, type LoadedCache, loadStatCache, readLastSnapshot } from './last-snapshot.ts';
import type { ObjectStream } from './object-stream.ts';
import type { CaptureOptions, CaptureTarget, IgnoredRequest } from './request.ts';
import { SET_ID } from './scan/permission-bits.ts';
import { type ScanResult, scan } from './scan/scan.ts';
import { type IgnoredFiles, LargeChange } from './scan/scan-options.ts';
import { Source } from './source.ts';
import { noIndex, readStagedIndex, type StagedIndex } from './staged-index.ts';
import { directoryForGit, type RefsAtStart, readOwnRefs, readRefsAtStart } from './starting-refs.ts';
import { directoryTimesAreReliable } from './stat-cache/cached-directories.ts';
import { refresh } from './stat-cache/refresh.ts';

export interface Observation {
  readonly refs: RefsAtStart;
  readonly last: LastSnapshot;
  readonly index: StagedIndex;
  readonly scanned: ScanResult;
  /** The file system's clock before the scan, in milliseconds. */
  readonly clock: number;
  /** Whether a process has mapped a file for writing. */
  readonly isMapped: boolean;
  /** For a new snapshot. */
  readonly manifest: SnapshotManifest;
}

/** Stores new content in `objects`, if given. For a large change a provider freezes the folder first. */
export async function observeFolder(
  git: Git,
  target: CaptureTarget,
  options: CaptureOptions,
  objects?: ObjectStream,
): Promise<Observation> {
  if (target.freeze === undefined || objects === undefined)
    return observe(git, target, options, objects, 'never');
  try {
    return await observe(git, target, options, objects, 'later');
  } catch (error) {
    if (!(error instanceof LargeChange)) throw error;
    return observe(git, target, options, objects, 'now');
  }
}

/** `later`: with LargeChange the scan asks for it. */
async function observe(
  git: Git,
  target: CaptureTarget,
  options: CaptureOptions,
  objects: ObjectStream | undefined,
  freezes: 'never' | 'later' | 'now',
): Promise<Observation> {
  const topFolders = options.siblings ?? TOP_FOLDERS;
  // Before everything that can change.
  const liveClock = readFileClock(target.folder) - clockSlack(target);

  // git reads the refs while this process refreshes the stat cache.
  const { attached } = target;
  const hasGitDir = attached === undefined && options.filesOnly !== true;
  const refsRead = hasGitDir ? readRefsAtStart(git, target) : readOwnRefs(git, target);
  const loaded = loadStatCache(target);
  const ignoredRead = options.withIgnored ? undefined : ignoredFiles(target, options, loaded);
  for (const read of [refsRead, ignoredRead]) read?.catch(() => undefined); // reported below, unless something else fails before
  const newer = options.siblings === undefined ? options.newerPaths?.() : undefined;
  const look = () =>
    loaded.cache && refresh(target.folder, loaded.cache, topFolders, attached && target.checkout, newer);
  const before = freezes === 'now' ? undefined : look();
  const refs = await refsRead;

  const last = await readLastSnapshot(git, target, refs, loaded);
  const index =
    hasGitDir || refs.userGit !== undefined ? await readIndex(git, target, refs, last) : noIndex(last);
  const frozen = freezes === 'now' ? await target.freeze?.() : undefined;
  // An entry that is still as it was is so in the frozen folder, too.
  const upToDate = freezes === 'now' ? look() : before;
  const mapped = mappedFiles(target);
  const source = new Source(target.folder, frozen, linkedSandbox(target));
  const ignore = readIgnoreFile(frozen?.folder ?? target.folder);
  const ignored = await ignoredRead;
  const scanned = await scan(source, last, {
    hash: hashNameOf(refs.tip),
    maxFileSize: options.maxFileSize,
    topFolders,
    isLinked: target.checkout !== undefined,
    gitDir: hasGitDir && target.checkout === undefined ? refs.gitDir : undefined,
    ignore,
    ignored,
    isLimited: attached !== undefined && last.isFirst,
    rereadSince: options.rereadSince,
    mapped,
    mayFreeze: freezes === 'later',
    refreshed: last.cache && upToDate && { cache: last.cache, upToDate },
    store: async (path, content) =>
      (await objects?.store(source.path(path), content, source.isInside)) ?? true,
    requireRoom: (bytes) => objects?.requireRoom(bytes),
  });
  const seen = { target, refs, options, topFolders, source, ignore, ignored };
  const manifest = buildManifest(scanned, last.manifest, seen);
  const clock = Math.min(frozen?.clock ?? liveClock, newer?.clock ?? Number.POSITIVE_INFINITY);
  return { refs, last, index, scanned, clock, isMapped: mapped.size > 0, manifest };
}

/** agt writes nothing into the repository of an attached folder. */
function readIndex(
  git: Git,
  target: CaptureTarget,
  { userGit, gitDir, tip }: RefsAtStart,
  last: LastSnapshot,
) {
  const isUsers = userGit !== undefined;
  const directory = isUsers ? (target.checkout ?? target.sandbox) : directoryForGit(git, target);
  return readStagedIndex(
    inDirectory(git, directory),
    gitDir,
    tip.length / 2,
    last,
    isUsers ? target.agtDir : gitDir,
  );
}

/** Reads every file, without the stat cache and the sandbox's git directory, and stores nothing. */
export async function observeFiles(
  git: Git,
  target: CaptureTarget,
  tip: string,
): Promise<Pick<Observation, 'last' | 'scanned'>> {
  const last = await readLastSnapshot(git, target, {
    tip,
    tipTree: (await resolveObject(git, `${tip}^{tree}`)) ?? '',
    tipManifest: await gitAnswer(git, ['cat-file', 'blob', `${tip}:${OWN.manifest}`]),
  });
  const everything = { maxFileSize: Number.POSITIVE_INFINITY, topFolders: TOP_FOLDERS, ignore: undefined };
  const options = { hash: hashNameOf(tip), ...everything, store: async () => true };
  return { last, scanned: await scan(new Source(target.folder), last, options) };
}

/** The files that git ignores in an attached folder. git has been started when the function returns. */
export function ignoredFiles(
  target: CaptureTarget,
  { alsoTake = [], takesSmall = true }: Partial<Omit<IgnoredRequest, 'nested'>>,
  { cache }: LoadedCache = loadStatCache(target),
): Promise<IgnoredFiles> | undefined {
  const ends = '/.git';
  const excluded = cache?.directories?.excluded.filter((path) => path.endsWith(ends)) ?? [];
  const nested = excluded.map((path) => path.slice(0, -ends.length));
  return target.attached?.readIgnored({ alsoTake, takesSmall, nested });
}

/**
 * agt writes nothing into an attached folder, so it reads the clock beside its own store. Another file system may be a
 * little behind that clock, or count in whole seconds. In milliseconds.
 */
function clockSlack({ attached, checkout, folder }: CaptureTarget): number {
  if (attached === undefined || checkout === undefined) return 0;
  if (lstatSync(checkout).dev === lstatSync(folder).dev) return 0;
  return directoryTimesAreReliable(checkout) ? 2_000 : 60_000;
}

/** The sandbox of a session that works in the user's own checkout. */
export function linkedSandbox({ checkout }: Pick<CaptureTarget, 'checkout'>): LinkedEntry | undefined {
  return checkout === undefined
    ? undefined
    : { name: 'sandbox', target: Buffer.from(checkout).toString('latin1') };
}

function mappedFiles({ folder, checkout }: CaptureTarget): Set<string> {
  if (checkout === undefined) return filesMappedForWriting(folder);
  return new Set([...filesMappedForWriting(checkout)].map((path) => `sandbox/${path}`));
}

function ownerOf(path: string): string | undefined {
  const stat = lstatSync(systemPath(path), { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.uid}:${stat.gid}`;
}

interface ManifestInputs {
  readonly target: CaptureTarget;
  readonly refs: RefsAtStart;
  readonly options: CaptureOptions;
  /** Entries elsewhere, and of unreadable paths, are taken from the last manifest. */
  readonly topFolders: readonly string[];
  readonly source: Source;
  readonly ignore: IgnoreFile | undefined;
  readonly ignored: IgnoredFiles | undefined;
}

/** Builds `_/manifest.json` of a new snapshot: what a scan found that a git tree cannot hold. */
function buildManifest(
  scanned: ScanResult,
  last: SnapshotManifest | undefined,
  { target, refs, options, topFolders, source, ignore, ignored }: ManifestInputs,
): SnapshotManifest {
  const isRetained = (path: string) => !isUnder(path, topFolders) || scanned.isRetained(pathFromJson(path));
  const retained = (paths: readonly string[] = []) => paths.filter(isRetained);
  const modes = scanned.permissions.describe(
    Object.entries(last?.modes.others ?? {}).filter(([path]) => isRetained(path)),
  );
  const owners = listOwners(modes, scanned, (path) =>
    isRetained(path) ? last?.owners?.[path] : ownerOf(source.path(pathFromJson(path))),
  );
  return {
    version: 1,
    session: target.sessionId,
    head: refs.head,
    operation: refs.gitDirFiles.operation,
    git_dir_digest: gitDirDigest(refs.gitDirFiles),
    label: options.label ?? null,
    tool: options.tool ?? null,
    modes,
    ...(Object.keys(owners).length === 0 ? {} : { owners }),
    empty_directories: [
      ...retained(last?.empty_directories),
      ...scanned.emptyDirectories.map(jsonPath),
    ].sort(),
    encoded: [...retained(last?.encoded), ...scanned.encoded.map(jsonPath)].sort(),
    skipped: listSkipped(scanned, last, isRetained),
    ...(ignore === undefined ? {} : { agtignore: ignore.lines }),
    ...(ignored === undefined || ignored.ignored.size === 0
      ? {}
      : { ignored: [...ignored.ignored].map(jsonPath).sort() }),
  };
}

function listSkipped(
  { skipped, failed }: ScanResult,
  last: SnapshotManifest | undefined,
  isRetained: (path: string) => boolean,
): SnapshotManifest['skipped'] {
  const found = [...skipped, ...failed].map(({ path, reason }) => ({ path: jsonPath(path), reason }));
  const paths = new Set(found.map(({ path }) => path));
  const retained = last?.skipped.filter(({ path }) => isRetained(path) && !paths.has(path)) ?? [];
  return [...retained, ...found].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Owners of files whose bits give the owner's rights to others. */
function listOwners(
  modes: SnapshotManifest['modes'],
  { directories }: ScanResult,
  ownerOf: (path: string) => string | undefined,
): Record<string, string> {
  const owners: Record<string, string> = {};
  for (const [path, bits] of Object.entries(modes.others)) {
    if ((Number.parseInt(bits, 8) & SET_ID) === 0 || directories.has(pathFromJson(path))) continue;
    const owner = ownerOf(path);
    if (owner !== undefined) owners[path] = owner;
  }
  return owners;
}
