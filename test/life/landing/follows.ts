/** The state that a user has to find in the checkout after a branch has moved: clean files follow, everything else is as before. */
import { differences } from '../compare.ts';
import type { Facts } from '../facts.ts';
import { changedPaths, dirtyPaths, isUnstagedSubmodule, withFlags } from '../paths.ts';
import { cleanCheckout } from '../squash.ts';

export interface Move {
  readonly root: string;
  /** Short name. */
  readonly branch: string;
  readonly from: string;
  readonly to: string;
}

/** The differences, as lines for people. `own`: uncommitted before an acceptance that is taken back, and so again. */
export function faultsAfter(move: Move, before: Facts, after: Facts, own: readonly string[] = []): string[] {
  const { root, branch, from, to } = move;
  const wanted = new Map(before);
  wanted.set(`ref refs/heads/${branch}`, to);
  const isCheckedOut = before.get('HEAD') === `ref: refs/heads/${branch}`;
  const ignore = new Set(isCheckedOut ? ['status', 'git ORIG_HEAD'] : []);
  if (isCheckedOut && from !== to)
    follow(
      wanted,
      before,
      { changed: changedPaths(root, from, to), clean: cleanCheckout(root, branch), own },
      ignore,
    );
  return differences(wanted, after, (key) => ignore.has(key));
}

interface Followed {
  readonly changed: readonly string[];
  readonly clean: Facts;
  readonly own: readonly string[];
}

/** Uncommitted paths that are on disk as they are to be: only the index follows. */
export function alreadyThere({
  before,
  changed,
  clean,
}: Omit<Followed, 'own'> & { before: Facts }): string[] {
  const dirty = new Set(dirtyPaths(before));
  const fileOf = (facts: Facts, path: string) => {
    const text = facts.get(`file ${path}`);
    // git knows one mode of an executable file.
    const asGit = text?.replace(/^file ([0-7])[0-7]{2}/, (_, owner) => (owner & 1 ? 'file 755' : 'file 644'));
    return text?.startsWith('directory') ? undefined : asGit;
  };
  const isSame = (path: string) => fileOf(before, path) === fileOf(clean, path);
  return changed.filter((path) => dirty.has(path) && isSame(path));
}

function follow(
  wanted: Map<string, string>,
  before: Facts,
  { changed, clean, own }: Followed,
  ignore: Set<string>,
): void {
  const dirty = new Set([...dirtyPaths(before), ...own]);
  for (const path of [...alreadyThere({ before, changed, clean }), ...own])
    set(wanted, `index 0 ${path}`, withFlags(before.get(`index 0 ${path}`), clean.get(`index 0 ${path}`)));
  const paths = changed.filter((path) => !dirty.has(path));
  // Other attributes give other bytes; which ones git uses depends on the order in which it writes.
  const hasAttributes = [...dirty, ...changed].some((path) => path.endsWith('.gitattributes'));
  for (const path of paths) {
    set(wanted, `file ${path}`, clean.get(`file ${path}`));
    const key = `index 0 ${path}`;
    set(wanted, key, withFlags(before.get(key), clean.get(key)));
    if (hasAttributes) ignore.add(`file ${path}`);
    // git leaves the folder of a submodule.
    if (/ 160000 /.test(`${before.get(`index 0 ${path}`)} ${clean.get(`index 0 ${path}`)}`))
      ignore.add(`file ${path}`);
  }
  for (const path of changed.filter((one) => isUnstagedSubmodule(before, one)))
    set(wanted, `index 0 ${path}`, clean.get(`index 0 ${path}`));
  for (const path of paths) {
    for (let above = parent(path); above !== ''; above = parent(above)) {
      const key = `file ${above}`;
      const below = (facts: Facts) => [...facts.keys()].filter((one) => one.startsWith(`${key}/`));
      const isFileIn = (facts: Facts, one: string) => facts.get(one)?.startsWith('directory') === false;
      const isNeeded = below(wanted).some((one) => isFileIn(wanted, one));
      // git deletes the directory with its last file, and makes it again for the new one.
      const isMadeAgain = !below(before).some((one) => isFileIn(before, one) && isFileIn(wanted, one));
      const isFile = isFileIn(wanted, key);
      if (isNeeded && !wanted.has(key)) set(wanted, key, clean.get(key));
      else if ((!isNeeded && !isFile) || (isNeeded && isMadeAgain)) ignore.add(key);
    }
  }
}

function set(facts: Map<string, string>, key: string, text: string | undefined): void {
  if (text === undefined) facts.delete(key);
  else facts.set(key, text);
}

function parent(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}
