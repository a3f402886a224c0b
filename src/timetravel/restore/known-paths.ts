/** Checks the paths of a partial restore: one that nobody knows is a mistake, and no reason to say that all went well. */
import { lstatSync } from 'node:fs';
import { systemPath } from '../../disk/long-path.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { AgtError, errorCode } from '../../errors.ts';
import { type Git, resolveObject } from '../../git/run/git.ts';
import { commandToRestore } from '../../session/advised-commands.ts';
import { isAttached, type SessionRecord, sessionFolder } from '../../session/record.ts';
import { isUnder } from '../../snapshot/folders.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata } from '../../snapshot/manifest.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { readAmbiguousFolders, relativeToSandbox, WHERE_PATHS_BEGIN } from '../session-paths.ts';

/**
 * `paths` are relative to the session folder, one byte per character.
 * @throws AgtError for a path that is neither in the snapshot nor on disk.
 */
export async function requireKnownPaths(
  git: Git,
  record: SessionRecord,
  { commit }: Snapshot,
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) {
    if (isOnDisk(record, path) || (await isInSnapshot(git, commit, path))) continue;
    const shown = displayPath(relativeToSandbox(path, await readAmbiguousFolders(git, [commit])));
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
