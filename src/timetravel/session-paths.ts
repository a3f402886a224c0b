/**
 * Converts between paths in a session folder and paths as people and agents write them: relative to the sandbox. A file in
 * another folder of the session is `../xdg/log`, or `xdg/log` for short. If the sandbox has an `xdg` of its own at its top,
 * the short form names that one; the long form always works. So it is with `sandbox/a`, as messages about a session folder
 * name a file.
 */
import { lstatSync, type Stats } from 'node:fs';
import { isAbsolute, join, normalize, relative, resolve } from 'node:path';
import { systemPath } from '../disk/long-path.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { realPath } from '../disk/real-path.ts';
import { AgtError, attempt, errorCode } from '../errors.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import { type Git, resolveObject } from '../git/run/git.ts';
import { commandToRestore } from '../session/advised-commands.ts';
import { isAttached, type SessionRecord, sessionFolder } from '../session/record.ts';
import { isUnder, TOP_FOLDERS } from '../snapshot/folders.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { readSnapshotMetadata } from '../snapshot/manifest.ts';
import { encodePath } from '../snapshot/tree-names.ts';

export const FOLDERS_BESIDE_SANDBOX = TOP_FOLDERS.filter((top) => top !== 'sandbox');

/** The folders of the session that have the same name as a file or directory at the top of the sandbox. */
export type AmbiguousFolders = ReadonlySet<string>;

/** `trees` are trees of session folders, or their commits. A folder that is ambiguous in one of them is in the result. */
export async function readAmbiguousFolders(git: Git, trees: readonly string[]): Promise<AmbiguousFolders> {
  const wanted = trees.flatMap((tree) => TOP_FOLDERS.map((folder) => ({ tree, folder })));
  const names = wanted.map(({ tree, folder }) => `${tree}:sandbox/${folder}`);
  const found = await findObjects(git, names);
  return new Set(wanted.filter((_, i) => found[i] !== undefined).map(({ folder }) => folder));
}

/** A path relative to the sandbox, as people read and write it; `path` is relative to the session folder. */
export function relativeToSandbox(path: string, ambiguous: AmbiguousFolders): string {
  if (path.startsWith('sandbox/')) return path.slice('sandbox/'.length);
  return ambiguous.has(firstPart(path)) ? `../${path}` : path;
}

/** The same as text. */
export function shownPath(path: string, ambiguous: AmbiguousFolders): string {
  return displayPath(relativeToSandbox(path, ambiguous));
}

/**
 * A path relative to the session folder, one byte per character; `path` is what the user wrote. It is relative to the
 * current directory `cwd` if that is in the session folder, and else to the sandbox. The short form `xdg/log` is
 * understood from the top of the sandbox and from outside the session folder.
 * @throws AgtError for a path that is in none of the session's folders.
 */
export function pathInSession(
  record: SessionRecord,
  path: string,
  cwd: string,
  ambiguous: AmbiguousFolders,
): string {
  const folder = sessionFolder(record);
  const tops = topsOf(record);
  const inFolder = (absolute: string) => relative(folder, throughLink(record, absolute));
  const cwdInFolder = inFolder(realPath(cwd));
  const isInside = isUnder(cwdInFolder, tops);
  const isShortForm =
    !isAttached(record) &&
    !isAbsolute(path) &&
    namesTop(record, normalize(path), ambiguous) &&
    (cwdInFolder === 'sandbox' || !isInside);
  const base = isShortForm ? folder : isInside ? join(folder, cwdInFolder) : record.sandbox;
  const pathInFolder = inFolder(resolve(base, path));
  if (isUnder(pathInFolder, tops)) return Buffer.from(pathInFolder).toString('latin1');
  if (isAttached(record)) {
    throw new AgtError(`"${path}" is not in the folder ${record.checkout ?? record.sandbox}`, {
      hints: [WHERE_PATHS_BEGIN],
    });
  }
  throw new AgtError(`"${path}" is not in session "${record.session_id}"`, {
    hints: ['paths are relative to the sandbox; paths in the other folders begin with ../xdg or ../config'],
  });
}

/** `xdg/log`, `sandbox/a`. */
function namesTop(record: SessionRecord, path: string, ambiguous: AmbiguousFolders): boolean {
  if (isUnder(path, FOLDERS_BESIDE_SANDBOX)) return !ambiguous.has(firstPart(path));
  return path.startsWith('sandbox/') && !isOnDisk(record, 'sandbox/sandbox') && !ambiguous.has('sandbox');
}

/** The inverse of `pathInSession`: a path that the user can write in the current directory. */
export function pathToWrite(
  record: SessionRecord,
  path: string,
  cwd: string,
  ambiguous: AmbiguousFolders,
): string {
  const cwdInFolder = relative(sessionFolder(record), throughLink(record, realPath(cwd)));
  if (cwdInFolder === 'sandbox' || !isUnder(cwdInFolder, topsOf(record)))
    return relativeToSandbox(path, ambiguous);
  return relative(Buffer.from(cwdInFolder).toString('latin1'), path);
}

function topsOf(record: SessionRecord): readonly string[] {
  return isAttached(record) ? ['sandbox'] : TOP_FOLDERS;
}

/** For messages about an attached folder. */
const WHERE_PATHS_BEGIN = 'paths are relative to the folder, or to the current directory if that is in it';

/** A path in the user's own checkout, or in an attached folder, as it is called through the sandbox's link to that. */
function throughLink({ checkout, sandbox }: SessionRecord, path: string): string {
  if (checkout === undefined || !`${path}/`.startsWith(`${checkout}/`)) return path;
  return join(sandbox, relative(checkout, path));
}

function firstPart(path: string): string {
  return path.split('/')[0] ?? '';
}

export interface Pathspec {
  /** `:(icase)`, `:!`; usually empty. */
  readonly magic: string;
  readonly path: string;
}

/** `toFolder` makes a path without magic relative to the session folder, and may take wildcards as text. */
export function parsePathspec(spec: string, toFolder: (path: string) => string): Pathspec {
  const [, magic = '', path = ''] = /^(:\([^)]*\)|:[!^/]+)?(.*)$/s.exec(spec) ?? [];
  return { magic, path: Buffer.from(toFolder(path), 'latin1').toString() };
}

/** A pathspec such as `:!docs`. If there are no others, git takes everything else. */
export function isExclusion({ magic }: Pathspec): boolean {
  return /[!^]|exclude/.test(magic);
}

/** Relative to the session folder. @throws AgtError for a path neither in the snapshot nor on disk */
export async function requireKnownPaths(
  git: Git,
  record: SessionRecord,
  { commit }: Snapshot,
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) {
    if (isOnDisk(record, path) || (await isInSnapshot(git, commit, path))) continue;
    const shown = shownPath(path, await readAmbiguousFolders(git, [commit]));
    const place = isAttached(record) ? 'in the folder' : 'in the session';
    throw new AgtError(`"${shown}" is neither in snapshot ${commit.slice(0, 10)} nor ${place}`, {
      hints: [
        isAttached(record)
          ? WHERE_PATHS_BEGIN
          : 'paths are relative to the sandbox, or to the current directory if that is in the session',
        `to see the snapshot: ${commandToRestore(record, commit.slice(0, 10))} --dry-run`,
      ],
    });
  }
}

/** Undefined if there is nothing, also below a file, and if the system refuses to look. */
export function lstatIn(record: SessionRecord, path: string): Stats | undefined {
  const folder = Buffer.from(sessionFolder(record)).toString('latin1');
  return attempt(() => lstatSync(systemPath(`${folder}/${path}`)));
}

function isOnDisk(record: SessionRecord, path: string): boolean {
  const folder = Buffer.from(sessionFolder(record)).toString('latin1');
  try {
    return lstatSync(systemPath(`${folder}/${path}`), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return errorCode(error) !== 'ENOTDIR';
  }
}

async function isInSnapshot(git: Git, commit: string, path: string): Promise<boolean> {
  // The name of a directory may be encoded where that of a file is not.
  for (const name of [path, encodePath(path), encodePath(`${path}/`).slice(0, -1)]) {
    const object = `${commit}:${Buffer.from(name, 'latin1').toString()}`;
    if ((await resolveObject(git, object)) !== undefined) return true;
  }
  const { emptyDirectories } = await readSnapshotMetadata(git, commit);
  return emptyDirectories.some((directory) => isUnder(directory, [path]));
}
