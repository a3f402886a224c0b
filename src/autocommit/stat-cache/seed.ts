/**
 * The scan manifest of a sandbox that has just been checked out, taken from git's index, so that the first autocommit
 * reads no file. git has written each of these files itself and noted its stat data; where it wrote something else than
 * the blob (line ends, ident, filters, encodings) or nothing, the file is left to be read.
 *
 * A cache, like every scan manifest: where something is not as expected there is none, and everything is read.
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFileClock } from '../../disk/file-clock.ts';
import { systemPath } from '../../disk/long-path.ts';
import { type IndexEntry, parseIndex } from '../../git/files/index-file.ts';
import { worktreeGitDir } from '../../git/files/worktree-git-dir.ts';
import { type Git, inDirectory } from '../../git/run/git.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { listConverted } from './converted.ts';
import { type KnownPlaces, PlaceNotes, tellsByTimes } from './known-places.ts';
import { writeScanManifest } from './scan-manifest.ts';
import type { ScanTable, StatData } from './scan-table.ts';
import { ScanTableBuilder } from './scan-table-builder.ts';

export interface Seed {
  /** Absolute. */
  readonly folder: string;
  readonly sandbox: string;
  readonly commonDir: string;
  /** Where the scan manifest goes; absolute. */
  readonly manifest: string;
  /** The commit that was checked out. */
  readonly commit: string;
}

/** Nobody else works in the sandbox yet. */
export async function seedScan(
  git: Git,
  { folder, sandbox, commonDir, manifest, commit }: Seed,
): Promise<void> {
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) return;
  const index = join(gitDir, 'index');
  const bytes = readFileSync(index);
  const { entries, split } = parseIndex(bytes, commit.length / 2);
  if (split || entries.some(({ stage }) => stage > 0)) return;
  const own = inDirectory(git, sandbox);
  const converted = await listConverted(
    own,
    { worktree: sandbox, commonDir },
    entries.map(({ path }) => path),
  );
  if (converted === 'all') return;

  const modes = sampleModes(entries, bytes, sandbox);
  const files = new ScanTableBuilder(commit.length / 2, entries.length);
  const foreign: string[] = [];
  for (const entry of entries) {
    const path = `sandbox/${entry.path}`;
    const mode = modes.get(entry.mode);
    if (entry.mode === SUBMODULE || encodePath(path) !== path) foreign.push(path);
    else if (mode === undefined || entry.flags !== 0 || converted.has(entry.path))
      files.addUnseen(path, entry.mode, entry.oid);
    else files.add(path, { ...statIn(bytes, entry.offset), mode }, entry.oid);
  }
  const clock = await clockAfter(lstatSync(index).ctimeMs, folder);
  const known = { digest: '', stat: '' }; // it is captured with the first state
  const table = files.build();
  const places = listPlaces(folder, table, entries);
  writeScanManifest(manifest, { commit, clock, index: known, files: table, places, foreign });
}

/**
 * The directories that git made, and what it has not put there: a hook, or a submodule's place. Called when the clock
 * has gone on, so that what changes them afterwards gives them another time.
 */
function listPlaces(folder: string, table: ScanTable, entries: readonly IndexEntry[]): KnownPlaces {
  const root = Buffer.from(folder).toString('latin1');
  const notes = new PlaceNotes(tellsByTimes(folder) ? lstatSync(folder).dev : undefined);
  const directories = new Map<string, Set<string>>();
  const note = (path: string): void => {
    const slash = path.lastIndexOf('/');
    const parent = path.slice(0, slash);
    const names = directories.get(parent);
    if (names !== undefined) names.add(path.slice(slash + 1));
    else {
      directories.set(parent, new Set([path.slice(slash + 1)]));
      if (parent.includes('/')) note(parent);
    }
  };
  for (const { path } of entries) note(`sandbox/${path}`);
  const others: string[] = [];
  for (const [directory, within] of directories) {
    const place = systemPath(`${root}/${directory}`);
    const stat = lstatSync(place, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) {
      others.push(directory);
      continue;
    }
    const names = readdirSync(place, 'latin1');
    notes.add(directory, stat, names.length === 0);
    const files = new Set(table.namesIn(directory));
    const isKnown = (name: string) =>
      files.has(name) || (within.has(name) && directories.has(`${directory}/${name}`));
    const strange = names.filter((name) => !isKnown(name) && !(directory === 'sandbox' && name === '.git'));
    others.push(...strange.map((name) => `${directory}/${name}`));
  }
  const tops = TOP_FOLDERS.filter((top) => !directories.has(top));
  return notes.finish([...others, ...tops], [], '');
}

const SUBMODULE = 0o160000;

/** The numbers before the object name; gitformat-index(5). */
function statIn(bytes: Buffer, at: number): Omit<StatData, 'mode'> {
  const time = (offset: number) =>
    bytes.readUInt32BE(at + offset) * 1000 + bytes.readUInt32BE(at + offset + 4) / 1e6;
  return {
    ctimeMs: time(0),
    mtimeMs: time(8),
    ino: bytes.readUInt32BE(at + 20),
    size: bytes.readUInt32BE(at + 36),
  };
}

/**
 * The st_mode that each mode of the index came to on disk, from one file of each. Only of those whose other stat data
 * come out as the index has them: it keeps 32 bits of each number.
 */
function sampleModes(entries: readonly IndexEntry[], bytes: Buffer, sandbox: string): Map<number, number> {
  const modes = new Map<number, number>();
  const tried = new Map<number, number>();
  for (const { mode, path, offset, flags } of entries) {
    const tries = tried.get(mode) ?? 0;
    if (mode === SUBMODULE || flags !== 0 || modes.has(mode) || tries === SAMPLES) continue;
    tried.set(mode, tries + 1);
    const place = `${Buffer.from(sandbox).toString('latin1')}/${path}`;
    const stat = lstatSync(systemPath(place), { throwIfNoEntry: false });
    const noted = statIn(bytes, offset);
    const names = ['mtimeMs', 'ctimeMs', 'size', 'ino'] as const;
    if (stat !== undefined && names.every((name) => noted[name] === stat[name])) modes.set(mode, stat.mode);
  }
  return modes;
}

const SAMPLES = 5;

/** The file system's clock once it has gone on: whatever is changed from then on has another time. */
async function clockAfter(last: number, folder: string): Promise<number> {
  for (;;) {
    const clock = readFileClock(folder);
    if (clock > last) return clock;
    if (clock < last - CLOCK_SET_BACK_MS) return clock;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Further back than that it will not go on soon; the files count as fresh then, and are read. */
const CLOCK_SET_BACK_MS = 100;
