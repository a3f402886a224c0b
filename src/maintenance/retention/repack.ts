/** Rewrites packs with git-repack(1). The caller holds the pack lock (repository/layout.ts). */
import { listPacks, type Pack } from '../../git/objects/object-store.ts';
import { type Git, gitAnswer, gitText } from '../../git/run/git.ts';

/** Options that apply whatever the user has configured. */
const REPACK = [
  '-c',
  'repack.writeBitmaps=false',
  '-c',
  'repack.packKeptObjects=false',
  'repack',
  '-d',
  '-l',
  '-q',
];

/** Rewrites the chosen packs without their unreachable objects that are older than `expire`. */
export async function rewritePacks(
  git: Git,
  objectsDir: string,
  chosen: readonly Pack[],
  expire: string,
): Promise<void> {
  const names = new Set(chosen.map(({ name }) => name));
  const others = listPacks(objectsDir).filter(({ name }) => !names.has(name));
  const cruft = ['--cruft', `--cruft-expiration=${expire}`];
  await gitText(git, [...REPACK, '-a', ...cruft, ...others.map(({ name }) => `--keep-pack=${name}`)]);
}

/**
 * Joins loose objects and small packs, so that each pack has at least twice the objects of the next smaller
 * one. Leaves packs alone that would make git write more than `limit` bytes. Safe beside other writers: git
 * deletes only packs whose objects it has just written. Not for a partial clone, where old gits mix promised
 * objects with others.
 */
export async function joinPacks(git: Git, objectsDir: string, limit: number): Promise<void> {
  let written = 0;
  const keep: string[] = [];
  for (const { name, bytes, special } of listPacks(objectsDir).sort((a, b) => a.bytes - b.bytes)) {
    if (special || written + bytes > limit) keep.push(`--keep-pack=${name}`);
    else written += bytes;
  }
  await gitText(git, [...REPACK, '--geometric=2', ...keep]);
}

export async function isPartialClone(git: Git): Promise<boolean> {
  const pattern = '^(extensions\\.partialclone|remote\\..*\\.promisor)$';
  return ((await gitAnswer(git, ['config', '--get-regexp', pattern])) ?? '') !== '';
}
