/**
 * After a `git gc` of the user, the store alone has the old packs. Objects that only snapshots need go into a pack of their own,
 * and everything else that the user's repository no longer has goes. So do the repositories inside that no snapshot had.
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { parseIndex } from '../../git/files/index-file.ts';
import { keepGitDirectory } from '../../git/files/mirror-git-directory.ts';
import { findObjects, readObjects } from '../../git/objects/object-reader.ts';
import { objectFiles } from '../../git/objects/object-store.ts';
import { FSYNC_ARGS, type Git, gitLines, gitText, inDirectory } from '../../git/run/git.ts';
import type { LockedSession } from '../../session/lock.ts';
import { OWN } from '../../snapshot/format.ts';
import { keptNamed, keptNames, keptOf, LARGEST_COPY } from './kept-repositories.ts';
import { trimNested } from './nested-repositories.ts';
import { readGitState, refsIn } from './read-state.ts';

/** Less is not worth the work. */
const LEAST_BYTES = 10 << 20;

/** Returns the bytes that are free now. */
export async function trimKept(session: LockedSession): Promise<number> {
  const { git, repository, id } = session;
  return (await trimNested(git, repository.agtDir, tipRef(id))) + (await trimOwn(session));
}

async function trimOwn({ git, repository, record, id }: LockedSession): Promise<number> {
  const folder = record.checkout ?? record.sandbox;
  const state = await readGitState(repository, folder);
  // If the repository is gone, everything is needed.
  if (state === undefined) return 0;
  const { agtDir } = repository;
  const own = keptOf(agtDir, state.commonDir);
  const kept = own.directory;
  if (!existsSync(kept)) return 0;
  const { objects: all, texts } = await namedObjects(git, tipRef(id));
  for (const name of keptNames(agtDir))
    if (name !== own.name && !texts.some((text) => text.includes(name)))
      removeTree(keptNamed(agtDir, name).directory);
  const objects = join(state.commonDir, 'objects');
  const before = objectFiles(objects);
  keepGitDirectory(state.commonDir, kept, LARGEST_COPY);
  const there = new Set([...before, ...objectFiles(objects)]);
  const gone = objectFiles(join(kept, 'objects'))
    .filter((name) => !there.has(name))
    .map((name) => join(kept, 'objects', name));
  const bytes = gone.reduce((sum, path) => sum + statSync(path).size, 0);
  if (bytes < LEAST_BYTES) return 0;
  const ofKept: Git = { ...git, cwd: kept, env: { ...git.env, GIT_DIR: kept, GIT_NO_LAZY_FETCH: '1' } };
  const users = new Set(await existing(inDirectory(git, folder), all));
  const named = await existing(
    ofKept,
    all.filter((name) => !users.has(name)),
  );
  const present = await existing(
    ofKept,
    [...refsIn(state).values()].filter((value) => !value.startsWith('ref: ')),
  );
  const input = [...named, '--not', ...present, ''].join('\n');
  const command = ['pack-objects', '--quiet', '--non-empty', '--revs', join('objects', 'pack', 'pack')];
  const pack = await gitText(ofKept, [...FSYNC_ARGS, ...command], { input });
  failurePoint('gc: kept objects packed');
  const left = gone.filter((path) => pack === '' || !path.includes(`pack-${pack}.`));
  // A pack goes after its index, so that no git takes it for whole.
  for (const path of left.toSorted((a, b) => Number(a.endsWith('.pack')) - Number(b.endsWith('.pack'))))
    rmSync(path);
  return left.length === 0 ? 0 : bytes;
}

/** Everything that the state of the repository in any snapshot names. */
async function namedObjects(git: Git, tip: string) {
  const args = ['rev-list', '--objects', '--no-object-names', tip, '--', OWN.gitDir, OWN.index];
  const found = await readObjects(git, await gitLines(git, args));
  const named = new Set<string>();
  const texts: string[] = [];
  for (const object of found) {
    if (object?.type !== 'blob') continue;
    const { content, oid } = object;
    if (content.toString('latin1', 0, 4) === 'DIRC')
      for (const entry of parseIndex(content, oid.length / 2).entries) named.add(entry.oid);
    else {
      texts.push(content.toString('latin1'));
      for (const [name] of content.toString('latin1').matchAll(/\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/g))
        named.add(name);
    }
  }
  return { objects: [...named], texts };
}

async function existing(git: Git, oids: readonly string[]): Promise<string[]> {
  const found = await findObjects(git, oids);
  return oids.filter((_, i) => found[i] !== undefined);
}
