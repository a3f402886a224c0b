/** The end of a session in place, compared with what the user has to find then. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { differences } from '../compare.ts';
import type { Facts } from '../facts.ts';
import { commitsAreKept, filesOf, readContent, snapshotHolds } from '../held.ts';
import { changedPaths, dirtyPaths, overlap } from '../paths.ts';
import { cleanCheckout } from '../squash.ts';
import type { InPlaceLife, Stay } from './in-place-life.ts';
import { type End, faultsOf } from './returned.ts';

export const IN_THE_WAY = /the branch has its own |agt could not bring back /;

/** Before the end. */
export interface Last {
  readonly final: Facts;
  readonly ignored: ReadonlySet<string>;
  readonly content: ReadonlyMap<string, string>;
  readonly commits: readonly string[];
  readonly committed: ReadonlySet<string>;
  readonly main: string;
}

/** @throws Error if something of the user's is not as before, or something of the agent's is lost. */
export function ended(life: InPlaceLife, stay: Stay, last: Last, output: string): void {
  life.stay = undefined;
  const after = life.look();
  const end = endOf(life, stay, last, after, output);
  const isInTheWay = IN_THE_WAY.test(output);
  if (isInTheWay) {
    waits(life, stay, end);
    return;
  }
  report(faultsOf(end), 'the user finds something else than before');
  sameRefs(last.final, after);
  snapshotHolds(life.root, stay.id, last.content);
  commitsAreKept(life.root, last.commits);
}

export function report(faults: readonly string[], why: string): void {
  if (faults.length > 0) throw new Error(`${why}:\n${faults.join('\n')}`);
}

/** Except main. */
function sameRefs(before: Facts, after: Facts): void {
  // The last snapshot has the stash of the session.
  const isOther = (key: string) => !/^ref refs\/(?!worktree|heads\/main$)/.test(key);
  report(differences(before, after, isOther), 'refs have changed');
}

export function endOf(life: InPlaceLife, stay: Stay, last: Last, after: Facts, output: string): End {
  const tip = life.git('rev-parse', 'main');
  return {
    root: life.root,
    start: stay.start,
    final: last.final,
    after,
    setAside: stay.setAside,
    ignoredAtEnd: new Set([...last.ignored, ...life.untracked().ignored]),
    base: stay.base,
    tip,
    committed: last.committed,
    output,
    clean: tip === stay.base ? new Map() : cleanCheckout(life.root, 'main'),
  };
}

/**
 * main has the same paths by now, or the agent has a repository there. The work is whole under its ref, and the user drops
 * it here.
 */
function waits(life: InPlaceLife, stay: Stay, { base, tip, root, output, final, after }: End): void {
  const dirty = dirtyPaths(stay.start);
  const blocked = /agt could not bring back (.*?) in /.exec(output)?.[1]?.split(', ') ?? [];
  const isBlocked = blocked.every((path) => [...final.keys()].some((key) => key.startsWith(`repo ${path}/`)));
  if (!isBlocked) throw new Error(`there is nothing that agt could not delete: ${output}`);
  const isLanded = tip !== base && overlap([...dirty, ...stay.ignored], changedPaths(root, base, tip));
  if (blocked.length === 0 && !isLanded)
    throw new Error(`nothing is in the way, but agt did not put the work back: ${output}`);
  const ref = `refs/agt/stash/${stay.id}`;
  const held = filesOf(root, `${ref}^4`);
  const lost = dirty.filter(
    (path) => /^(file|link)/.test(stay.start.get(`file ${path}`) ?? '') && !held.has(path),
  );
  if (lost.length > 0) throw new Error(`${ref} lacks ${JSON.stringify(lost)}`);
  const changed = [...blocked, ...changedPaths(root, base, tip)];
  const free = dirty.filter((path) => !overlap([path], changed));
  const keys = free.flatMap((path) => [`file ${path}`, `index 0 ${path}`]);
  report(
    keys.filter((key) => after.get(key) !== stay.start.get(key)),
    'nothing is in the way of these, and they are not as before',
  );
  // The user begins anew, whatever git would not overwrite.
  for (const path of blocked) rmSync(join(root, path), { recursive: true });
  rmSync(join(root, '.git/index'), { force: true });
  life.git('reset', '-q', '--hard');
  life.git('update-ref', '-d', ref);
}

export function lookLast(life: InPlaceLife, stay: Stay): Last {
  const final = life.look();
  const heads = ['HEAD', `refs/heads/agt/${stay.id}`].flatMap(
    (name) => life.user.ask(['rev-parse', '-q', '--verify', `${name}^{commit}`])?.trim() ?? [],
  );
  const added = heads.flatMap((head) =>
    life
      .git('diff-tree', '-r', '-z', '--no-renames', '--name-only', '--diff-filter=A', stay.base, head, '--')
      .split('\0'),
  );
  return {
    final,
    ignored: life.untracked().ignored,
    content: readContent(life.root, final),
    commits: heads,
    committed: new Set(added),
    main: life.git('rev-parse', 'main'),
  };
}
