/** The merge of one file in memory, and how a conflict of it ends. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINK } from '../../git/modes.ts';
import { readObjects } from '../../git/objects/object-reader.ts';
import { type DiffEntry, entryOf } from '../../git/objects/raw-diff.ts';
import type { ScratchObjects } from '../../git/objects/scratch-objects.ts';
import { FSYNC_ARGS, type Git, gitText, runGit } from '../../git/run/git.ts';

/** How a conflict ends: `ours` keeps what is there now, `markers` writes both, as git does. */
export type OnConflict = 'refuse' | 'ours' | 'markers';

export type Version = DiffEntry['before'];

/** Merges one file. `scratch` has a directory for the time of the merge. */
export async function mergeVersions(
  git: Git,
  scratch: Pick<ScratchObjects, 'dir'>,
  { ours, base, theirs }: Record<'ours' | 'base' | 'theirs', Version>,
  { onConflict, name }: { readonly onConflict: OnConflict; readonly name: string },
): Promise<{ readonly version: Version; readonly isConflict: boolean }> {
  if (entryOf(ours) === entryOf(base)) return { version: theirs, isConflict: false };
  if (entryOf(ours) === entryOf(theirs)) return { version: ours, isConflict: false };
  if (ours === undefined || base === undefined || theirs === undefined || [ours, base, theirs].some(isLink))
    return { version: ours, isConflict: true };
  const mode = ours.mode === base.mode ? theirs.mode : ours.mode;
  if (base.oid === theirs.oid || ours.oid === theirs.oid)
    return { version: { mode, oid: ours.oid }, isConflict: false };
  const files = ['now', 'after', 'before'].map((file) => join(scratch.dir, file));
  const contents = await readObjects(git, [ours.oid, base.oid, theirs.oid]);
  for (const [i, file] of files.entries()) writeFileSync(file, contents[i]?.content ?? '');
  const names = ['now', `after ${name}`, `before ${name}`].flatMap((label) => ['-L', label]);
  const merge = (...strategy: string[]) => runGit(git, ['merge-file', '-p', ...strategy, ...names, ...files]);
  const merged = await merge();
  // 255: one of them is binary.
  if (merged.exitCode === BINARY) return { version: ours, isConflict: true };
  const isConflict = merged.exitCode !== 0;
  const { stdout: input } = isConflict && onConflict === 'ours' ? await merge('--ours') : merged;
  const oid = await gitText(git, [...FSYNC_ARGS, 'hash-object', '-w', '--stdin'], { input });
  return { version: { mode, oid }, isConflict };
}

const BINARY = 255;

/** Those of a conflict of git, which an agent has solved since. */
export async function bringsMarkers(git: Git, now: Version, then: Version): Promise<boolean> {
  if (now === undefined || then === undefined || entryOf(now) === entryOf(then)) return false;
  const contents = await readObjects(git, [now.oid, then.oid]);
  const [has, had] = contents.map((object) =>
    /^<{7} .*^>{7} /ms.test(object?.content.toString('latin1') ?? ''),
  );
  return had === true && has === false;
}

const isLink = (version: Version) => version?.mode === LINK;
