/** The stat cache of one snapshot, made from that of another one: files that differ are read by the next scan. */
import { summarizeIndex } from '../../git/files/index-file.ts';
import { readObject } from '../../git/objects/object-reader.ts';
import type { Git } from '../../git/run/git.ts';
import { diffSnapshots } from '../../snapshot/tree.ts';
import { CachedFilesBuilder } from './cached-files-builder.ts';
import type { StatCache } from './stat-cache.ts';

export async function deriveStatCache(git: Git, cache: StatCache, commit: string): Promise<StatCache> {
  if (cache.commit === commit) return cache;
  const { files } = cache;
  const differences = await diffSnapshots(git, cache.commit, commit);
  const rows = differences.map(({ path }) => files.find(path)).filter((row) => row >= 0);
  const builder = new CachedFilesBuilder(commit.length / 2, files.length + differences.length);
  let start = 0;
  for (const row of rows.sort((a, b) => a - b)) {
    builder.copy(files, start, row);
    start = row + 1;
  }
  builder.copy(files, start, files.length);
  for (const { path, after } of differences)
    if (after !== undefined) builder.addUnread(path, Number.parseInt(after.mode, 8), after.oid);
  const index = await readObject(git, `${commit}:_/index`);
  const digest = index === undefined ? '' : summarizeIndex(index.content, commit.length / 2).digest;
  const { clock, directories } = cache;
  return { commit, clock, index: { digest, stat: '' }, files: builder.build(), directories };
}
