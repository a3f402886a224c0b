/**
 * The state that a user has to find in the checkout after a session in place, from the facts of before it. With docs/guide/agents.md:
 *
 * - Everything that git looks at is as before: files, modes, index. If the branch has moved, clean files follow it.
 * - A file that git ignored stays as the agent left it: unchanged if the agent did not change it, and as before if the
 *   agent committed it.
 * - A repository inside stays as the agent left it, or is as before. If it is not as before, agt names it.
 * - Of the agent's, only what git ignores stays.
 */
import { join } from 'node:path';
import { repositoriesIn } from '../checkout-facts.ts';
import type { Facts } from '../facts.ts';
import { changedPaths, dirtyPaths, isInside, isUnstagedSubmodule, withFlags } from '../paths.ts';
import { REAL_GIT, run } from '../programs.ts';

export interface End {
  readonly root: string;
  readonly start: Facts;
  /** Just before the end. */
  readonly final: Facts;
  readonly after: Facts;
  /** Paths of ignored files that agt took away at the start. */
  readonly setAside: ReadonlySet<string>;
  /** By the rules of the agent, or by those of the user. */
  readonly ignoredAtEnd: ReadonlySet<string>;
  /** Commits of main: at the start, and now. */
  readonly base: string;
  readonly tip: string;
  /** Paths in the agent's commits that main did not have. */
  readonly committed: ReadonlySet<string>;
  /** Everything that agt has printed. */
  readonly output: string;
  /** The facts of a clean checkout of the new main. */
  readonly clean: Facts;
}

/** The differences, as lines for people. */
export function faultsOf(end: End): string[] {
  const { start, final, after } = end;
  const repositories = [...new Set([...repositoriesIn(start), ...repositoriesIn(final)])];
  const { wanted, empty } = wantedFacts(end);
  const visible = visiblePaths(end);
  const landed = new Set(changedPaths(end.root, end.base, end.tip));
  // After `git mv` of a submodule, and a way back, two directories may share one repository.
  const isShared = (path: string) =>
    start.get(`repo ${path} .git`)?.startsWith('gitdir:') &&
    repositories.some(
      (other) => other !== path && start.get(`repo ${other} .git`) === start.get(`repo ${path} .git`),
    );
  const faults: string[] = [];
  const named = new Map<string, string>();
  for (const key of new Set([...wanted.keys(), ...start.keys(), ...after.keys()])) {
    const [want, found, left] = [wanted.get(key), after.get(key), final.get(key)];
    const inside = repositories.find((path) => isInside(key, path));
    const fault = (why: string) =>
      faults.push(
        `${JSON.stringify(key)}: ${why}; before ${show(start.get(key))}, left ${show(left)}, found ${show(found)}`,
      );
    if (inside !== undefined) {
      // A submodule that the agent has moved shares its repository with the one that is back.
      const isMoved =
        !start.has(`repo ${inside} .git`) && final.get(`repo ${inside} .git`)?.startsWith('gitdir:');
      if (found === start.get(key) || isMoved) continue;
      if (found !== left) fault('a repository inside is neither as before nor as the agent left it');
      else if (
        start.has(`repo ${inside} .git`) &&
        !landed.has(inside) &&
        !isShared(inside) &&
        !isIgnoredInside(end.root, inside, key)
      )
        named.set(inside, `${key}: before ${show(start.get(key))}, found ${show(found)}`);
    } else if (key === 'status' || key.startsWith('git ')) continue;
    else if (key === 'rules' || key === 'config') {
      const others = [start.get(key), left].map((text) => withoutOwn(text));
      if (!others.includes(withoutOwn(found))) fault('neither as before nor as the agent left it');
    } else if (!key.startsWith('file ')) {
      if (found !== want) fault(`expected ${show(want)}`);
    } else if (empty.has(key) && (found === undefined || found === want || mayStay(key, end))) continue;
    else if (visible.has(key) || (want !== undefined && (!start.has(key) || landed.has(pathOf(key))))) {
      const isAbove =
        want === undefined &&
        found !== undefined &&
        (found.startsWith('directory') || !start.has(`index 0 ${pathOf(key)}`)) &&
        mayStay(key, end);
      if (found !== want && !isAbove) fault(`expected ${show(want)}`);
    } else if (start.has(key)) {
      const why = faultOfIgnored(key, end);
      if (why !== undefined) fault(why);
    } else if (!mayStay(key, end)) fault('left behind');
  }
  const words = end.output;
  for (const [path, what] of named)
    if (!words.includes(path))
      faults.push(`the agent's changes in the repository ${path} stay, and agt does not say so: ${what}`);
  if (faults.length === 0 && isSame(start, after) && start.get('status') !== after.get('status'))
    faults.push(
      `git status says something else: before ${show(start.get('status'))}, found ${show(after.get('status'))}`,
    );
  return faults;
}

/** It stays, as one of the checkout itself does. */
function isIgnoredInside(root: string, inside: string, key: string): boolean {
  const path = key.slice(`file ${inside}/`.length);
  return (
    key.startsWith('file ') &&
    run(REAL_GIT, ['check-ignore', '-q', '--', path], join(root, inside)).exitCode === 0
  );
}

/** Without the settings that come back: which submodules are in use, and whether the checkout is sparse. */
function withoutOwn(config: string | undefined): string | undefined {
  return config?.replace(/^\[submodule "[^\]]*\]\n(\t.*\n)*/gm, '').replace(/^\tsparse.*\n/gm, '');
}

function pathOf(key: string): string {
  return key.slice('file '.length);
}

function isSame(start: Facts, after: Facts): boolean {
  const keys = new Set([...start.keys(), ...after.keys()]);
  keys.delete('status');
  return [...keys].every((key) => start.get(key) === after.get(key));
}

function show(text: string | undefined): string {
  return text === undefined ? 'nothing' : JSON.stringify(text.slice(0, 150));
}

/** For a file that git ignored, or a directory without any other. */
function faultOfIgnored(key: string, { start, final, after, committed, tip, base }: End): string | undefined {
  const [before, left, found] = [start.get(key), final.get(key), after.get(key)];
  if (found === before) return undefined;
  if (left === before) return 'agt changed an ignored file that the agent did not change';
  const path = key.slice('file '.length);
  if (committed.has(path) && tip === base) return 'an ignored file that the agent committed is not as before';
  return found === left ? undefined : 'an ignored file is neither as before nor as the agent left it';
}

/** A file of the agent that git ignores, directories above such files and repositories, and empty ones. */
function mayStay(key: string, { final, after, ignoredAtEnd }: End): boolean {
  const found = after.get(key) as string;
  const path = key.slice('file '.length);
  if (!found.startsWith('directory')) return found === final.get(key) && ignoredAtEnd.has(path);
  const below = (facts: Facts) => [...facts.keys()].filter((other) => other.startsWith(`${key}/`));
  const isFile = (facts: Facts) => (other: string) => !facts.get(other)?.startsWith('directory');
  if (below(after).some(isFile(after)) || [...after.keys()].some((one) => one.startsWith(`repo ${path}/`)))
    return true;
  return below(final)
    .filter(isFile(final))
    .every((other) => ignoredAtEnd.has(other.slice('file '.length)));
}

/** Files that git tracks or shows as untracked, or that agt took away, and the directories above them, as keys. */
function visiblePaths({ start, setAside }: End): Set<string> {
  const paths = [...start.keys()].flatMap((key) => /^index \d (.*)$/s.exec(key)?.[1] ?? []);
  const all = new Set([...paths, ...dirtyPaths(start), ...setAside]);
  const keys = new Set<string>();
  for (const path of all)
    for (
      let above = path;
      above !== '';
      above = above.includes('/') ? above.slice(0, above.lastIndexOf('/')) : ''
    )
      keys.add(`file ${above}`);
  return keys;
}

interface Wanted {
  readonly wanted: Facts;
  /** Directories that may be there or not. */
  readonly empty: ReadonlySet<string>;
}

/** Without what git ignores. If main has moved, clean files are as in a clean checkout of it. */
function wantedFacts({ start, after, base, tip, root, clean }: End): Wanted {
  const wanted = new Map(start);
  // Refs are compared with those just before the end.
  for (const key of [...wanted.keys()]) if (key.startsWith('ref ')) wanted.delete(key);
  for (const [key, text] of after) if (key.startsWith('ref ')) wanted.set(key, text);
  if (tip === base) return { wanted, empty: new Set() };
  const dirty = new Set(dirtyPaths(start));
  for (const path of changedPaths(root, base, tip)) {
    const keys = dirty.has(path) ? [] : [`file ${path}`];
    // A submodule that has another commit checked out stays so, and is no change of the index.
    // So does a file that the user has changed as main has.
    // So is the index where main has deleted a file of which the user has made a directory.
    const fileIn = (facts: Facts) => {
      const text = facts.get(`file ${path}`);
      return text?.startsWith('directory') ? undefined : text;
    };
    const isSame = fileIn(start) === fileIn(clean);
    if (!dirty.has(path) || isSame || isUnstagedSubmodule(start, path)) keys.push(`index 0 ${path}`);
    for (const key of keys) {
      const text = withFlags(key.startsWith('index') ? wanted.get(key) : undefined, clean.get(key));
      if (text === undefined) wanted.delete(key);
      else wanted.set(key, text);
    }
  }
  const empty = setDirectories(wanted, clean);
  return { wanted, empty };
}

/** Those above the files of main come with them. @returns those without a file, which may go with the last one. */
function setDirectories(wanted: Map<string, string>, clean: Facts): Set<string> {
  const empty = new Set<string>();
  const files = [...wanted].filter(([key, text]) => key.startsWith('file ') && !text.startsWith('directory'));
  for (const [key, text] of clean)
    if (text.startsWith('directory') && !wanted.has(key)) wanted.set(key, text);
  for (const [key, text] of [...wanted]) {
    if (!text.startsWith('directory') || !key.startsWith('file ')) continue;
    const isNeeded = files.some(([file]) => file.startsWith(`${key}/`));
    if (!isNeeded) empty.add(key);
  }
  return empty;
}
