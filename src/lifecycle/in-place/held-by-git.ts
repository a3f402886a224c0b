/**
 * Tracked files that no snapshot holds: larger than agt.maxFileSize, or named in `.agtignore`. If one is on disk as an
 * index of git has it, git's objects hold it. Then the plan has it like a captured one.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withIndexCopy } from '../../autocommit/staged-index.ts';
import { parseIndex } from '../../git/files/index-file.ts';
import { readObject } from '../../git/objects/object-reader.ts';
import { isUnder } from '../../snapshot/folders.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import type { TreeEntry } from '../../snapshot/tree.ts';
import { whatIsOnDisk } from './bring.ts';
import { gitDir, type InPlace } from './checkout.ts';
import { edited, inScratch, type Target, writtenFiles } from './target.ts';

/** From the snapshot `commit` to the target, with these files in both. */
export async function withHeldByGit(
  place: InPlace,
  commit: string,
  { snapshot, index: wanted = Buffer.alloc(0) }: Pick<Target, 'snapshot' | 'index'>,
): Promise<{ readonly from: SnapshotMetadata; readonly to: SnapshotMetadata }> {
  const { git, record } = place;
  const from = await readSnapshotMetadata(git, commit);
  const skipped = [...from.skipped, ...snapshot.skipped].filter((path) => !path.endsWith('/.git'));
  const current = (await readObject(git, `${commit}:_/index`))?.content ?? Buffer.alloc(0);
  const oidLength = commit.length / 2;
  const isSkipped = (path: string) => isUnder(`sandbox/${path}`, skipped);
  const paths = [current, wanted].flatMap((raw) => {
    const entries = skipped.length === 0 || raw.length === 0 ? [] : parseIndex(raw, oidLength).entries;
    return entries.map(({ path }) => path).filter(isSkipped);
  });
  if (paths.length === 0) return { from, to: snapshot };
  return withIndexCopy(gitDir(place), current, async (copy) => {
    const worktree = join(dirname(copy), 'worktree');
    mkdirSync(worktree);
    const asWritten = (raw: Buffer, name: string) => {
      writeFileSync(name, raw);
      return writtenFiles(inScratch(git, gitDir(place), name, worktree), raw, oidLength, paths);
    };
    const before = await asWritten(current, copy);
    const after = await asWritten(wanted, `${copy}-wanted`);
    const held = new Map<string, TreeEntry | undefined>();
    whatIsOnDisk(record, (isOnDisk) => {
      for (const path of paths) {
        const versions = [undefined, before.get(path), after.get(path)];
        const found = versions.findIndex((one) => isOnDisk(path, one?.oid));
        if (found !== -1) held.set(path, versions[found]);
      }
    });
    const isLacking = (path: string) => isUnder(`sandbox/${path}`, snapshot.skipped);
    const goal = new Map([...held.keys()].filter(isLacking).map((path) => [path, after.get(path)]));
    const isHeld = (path: string) => [...held.keys()].some((one) => isUnder(`sandbox/${one}`, [path]));
    const including = async (one: SnapshotMetadata, files: ReadonlyMap<string, TreeEntry | undefined>) => ({
      ...(await edited(git, one, files, copy)),
      skipped: one.skipped.filter((path) => !isHeld(path)),
    });
    return { from: await including(from, held), to: await including(snapshot, goal) };
  });
}
