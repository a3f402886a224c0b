/** Keeps the repositories inside of an attached folder, so that a deleted one comes back with its `.git`. */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathFromJson } from '../../disk/path-bytes.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { bringGitDirectory, keepGitDirectory } from '../../git/files/mirror-git-directory.ts';
import { readObjects } from '../../git/objects/object-reader.ts';
import { type Git, gitLines } from '../../git/run/git.ts';
import { keptNestedDirectory } from '../../layout.ts';
import { OWN } from '../../snapshot/format.ts';
import type { SnapshotManifest } from '../../snapshot/manifest.ts';
import { LARGEST_COPY, ownBytes } from './kept-repositories.ts';

const GIT_DIRECTORY = /^sandbox\/.+\/\.git$/;

interface Place {
  readonly folder: string;
  readonly agtDir: string;
}

/** `paths`: those that a capture left out; relative to the session folder, one byte per character. Returns what is too large. */
export function keepNested(place: Place, paths: readonly string[]): string[] {
  return nestedIn(place, paths).flatMap(({ gitDir, kept }) => {
    if (lstatSync(gitDir, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
    mkdirSync(dirname(kept), { recursive: true });
    return keepGitDirectory(gitDir, kept, LARGEST_COPY);
  });
}

/** `paths`: those that the wanted snapshot left out. Returns the ones that have come back. */
export function bringNestedBack(place: Place, paths: readonly string[]): string[] {
  return nestedIn(place, paths).flatMap(({ gitDir, kept }) => {
    if (!existsSync(kept) || !existsSync(dirname(gitDir)) || existsSync(join(gitDir, 'HEAD'))) return [];
    if (lstatSync(gitDir, { throwIfNoEntry: false })?.isDirectory() === false) return [];
    bringGitDirectory(kept, gitDir);
    return [gitDir];
  });
}

function nestedIn({ folder, agtDir }: Place, paths: readonly string[]) {
  return paths
    .filter((path) => GIT_DIRECTORY.test(path))
    .map((path) => {
      const inFolder = Buffer.from(path.slice('sandbox/'.length), 'latin1').toString();
      return { gitDir: join(folder, inFolder), kept: join(keptNestedDirectory(agtDir), nameOf(path)) };
    });
}

function nameOf(path: string): string {
  return createHash('sha1').update(path, 'latin1').digest('hex');
}

/** Deletes the copies that no snapshot in the history of `tip` needs. Returns the bytes that are free now. */
export async function trimNested(git: Git, agtDir: string, tip: string): Promise<number> {
  const directory = keptNestedDirectory(agtDir);
  const names = existsSync(directory) ? readdirSync(directory) : [];
  if (names.length === 0) return 0;
  const args = ['rev-list', '--objects', '--no-object-names', tip, '--', OWN.manifest];
  const needed = new Set<string>();
  for (const found of await readObjects(git, await gitLines(git, args))) {
    if (found?.type !== 'blob') continue;
    const { skipped } = JSON.parse(found.content.toString()) as SnapshotManifest;
    for (const { path } of skipped) needed.add(nameOf(pathFromJson(path)));
  }
  let bytes = 0;
  for (const name of names.filter((one) => !needed.has(one))) {
    bytes += ownBytes(join(directory, name));
    removeTree(join(directory, name));
  }
  return bytes;
}
