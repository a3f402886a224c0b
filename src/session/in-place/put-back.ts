/**
 * Puts back what agt set aside, when the user's branch is checked out again: the exact bytes, permissions and index. The
 * branch may have new commits, such as an accepted session. A path that these or somebody else changed is a conflict: then
 * nothing is put back. Killed in between, it can be done again.
 */
import { closeSync, fsyncSync, openSync, readFileSync, readlinkSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { AgtError, errorCode } from '../../errors.ts';
import { stashRef } from '../../filter/agent-refs.ts';
import { INTENT_TO_ADD, parseIndex } from '../../git/files/index-file.ts';
import { breakStaleLocks } from '../../git/files/ref-locks.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import { type Git, gitBytes, gitText, resolveObject } from '../../git/run/git.ts';
import { dirtyPaths, gitDir, type InPlace, lstatIn, pathIn } from './checkout.ts';
import { blockerOf, changedPaths, readVersions, sweepTemporary, type Wanted, write } from './user-files.ts';

/** @returns readable paths that are in the way. Then the work stays under its ref. */
export async function putBack(place: InPlace): Promise<string[]> {
  const plan = await planToPutBack(place);
  if (plan === undefined) return [];
  const { stash, base, tip, paths, open, conflicts } = plan;
  sweepTemporary(place.checkout, paths);
  if (conflicts.length > 0) return conflicts;
  for (const one of open) {
    write(place.checkout, one);
    failurePoint('in place: one file put back');
  }
  await putIndexBack(place, stash, { base, tip });
  failurePoint('in place: index put back');
  return [];
}

export async function pathsInTheWay(place: InPlace): Promise<string[]> {
  return (await planToPutBack(place))?.conflicts ?? [];
}

/** Undefined if nothing was set aside. */
async function planToPutBack({ git, record, checkout }: InPlace) {
  const stash = await resolveObject(git, stashRef(record.session_id));
  if (stash === undefined) return undefined;
  const base = record.from_commit;
  const tip = await gitText(git, ['rev-parse', '--verify', 'HEAD^{commit}']);
  const wanted = await readWanted(git, stash, base);
  const dirty = new Set((await dirtyPaths(git)).map(({ path }) => path));
  const landed = new Set(await changedPaths(git, base, tip));
  const open = wanted.filter((one) => !isAsWanted(checkout, one));
  const isChanged = (path: string) =>
    landed.has(path) || (dirty.has(path) && lstatIn(checkout, path) !== undefined);
  const inTheWay = open.map(({ path }) => blockerOf(checkout, path) ?? (isChanged(path) ? path : undefined));
  const conflicts = [...new Set(inTheWay.filter((path) => path !== undefined))];
  const paths = wanted.map(({ path }) => path);
  return { stash, base, tip, paths, open, conflicts: conflicts.map(displayPath) };
}

export async function pathsSetAside({ git, record }: InPlace): Promise<ReadonlySet<string>> {
  const stash = await resolveObject(git, stashRef(record.session_id));
  return stash === undefined ? new Set() : changedSince(git, stash, record.from_commit);
}

async function readWanted(git: Git, stash: string, base: string): Promise<Wanted[]> {
  return readVersions(git, `${stash}^4`, [...(await changedSince(git, stash, base))]);
}

async function changedSince(git: Git, stash: string, base: string): Promise<ReadonlySet<string>> {
  const untracked = (await listTree(git, `${stash}^3`, { recurse: 'files' })).map(({ path }) => path);
  const changed = [stash, `${stash}^2`].map((tree) => changedPaths(git, base, tree));
  return new Set([...untracked, ...(await Promise.all(changed)).flat()]);
}

function isAsWanted(checkout: string, { path, file }: Wanted): boolean {
  const stat = lstatIn(checkout, path);
  if (stat === undefined || file === undefined) return stat === file;
  if (file.isLink)
    return stat.isSymbolicLink() && readlinkSync(pathIn(checkout, path), 'buffer').equals(file.content);
  return (
    stat.isFile() &&
    (stat.mode & 0o7777) === file.mode &&
    readFileSync(pathIn(checkout, path)).equals(file.content)
  );
}

/** With new commits on the branch, agt stages again what was staged. */
async function putIndexBack(
  place: InPlace,
  stash: string,
  { base, tip }: { readonly base: string; readonly tip: string },
): Promise<void> {
  const { git, checkout } = place;
  const directory = gitDir(place);
  await breakStaleLocks([join(directory, 'index.lock')], async () => [checkout, directory]);
  const index = await gitBytes(git, ['cat-file', 'blob', `${stash}^4:_/index`]);
  if (tip === base) {
    replaceIndex(directory, index);
    return;
  }
  const changed = new Set(await changedPaths(git, base, `${stash}^2`));
  const staged = (await listTree(git, `${stash}^2`, { recurse: 'files' })).filter(({ path }) =>
    changed.has(path),
  );
  const present = new Set(staged.map(({ path }) => path));
  const deleted = [...changed].filter((path) => !present.has(path));
  const lines = [
    ...staged.map(({ mode, oid, path }) => `${mode} ${oid}\t${path}\0`),
    ...deleted.map((path) => `0 ${'0'.repeat(base.length)}\t${path}\0`),
  ];
  const input = Buffer.from(lines.join(''), 'latin1');
  if (lines.length > 0) await gitText(git, ['update-index', '-z', '--index-info'], { input });
  await intendToAdd(git, index, base.length / 2);
}

/** `git add --intent-to-add`: no tree has such files. */
async function intendToAdd(git: Git, index: Buffer, oidLength: number): Promise<void> {
  const entries = parseIndex(index, oidLength).entries.filter(({ flags }) => (flags & INTENT_TO_ADD) !== 0);
  if (entries.length === 0) return;
  const input = Buffer.from(entries.map(({ path }) => `${path}\0`).join(''), 'latin1');
  const paths = ['--pathspec-from-file=-', '--pathspec-file-nul'];
  await gitText(git, ['--literal-pathspecs', 'add', '--force', '--intent-to-add', ...paths], { input });
}

/** As git does it: under the lock. */
function replaceIndex(directory: string, content: Buffer): void {
  const lock = join(directory, 'index.lock');
  let fd: number;
  try {
    fd = openSync(lock, 'wx');
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new AgtError(`another git works in your checkout: ${lock} exists`, {
      hints: ['wait until it has ended, then run the same command again'],
    });
  }
  try {
    for (let offset = 0; offset < content.length; ) offset += writeSync(fd, content, offset);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(lock, join(directory, 'index'));
}
