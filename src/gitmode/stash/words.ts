/**
 * Words of a command line that name the stash. In a sandbox they mean the session's own: `git show stash@{0}`, `git
 * checkout stash^ -- file`.
 *
 * Limits: `stash` alone is a name like any other, so it counts only where git reads, and only if no file has this name.
 * A line that shows the name shows that of the session's ref: `git reflog stash`.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SESSION_STASH, SHARED_STASH } from '../../filter/agent-refs.ts';
import type { GitDirectories } from '../../git/files/discover-repository.ts';
import { hasRef } from '../../git/files/ref-files.ts';
import { TAKE_NEXT_WORD } from '../rules/revisions.ts';

/** A revision, or a range of two. The name ends where git's operators begin. */
const STASH = /(^[\^+]?|\.\.\.?)(?:refs\/)?stash(?=$|@\{|[\^~:]|\.\.)/g;
const MARKED = /^[\^+]?(refs\/stash|stash[@^~:]|stash\.\.|[^\s:]*\.\.\.?(refs\/)?stash($|[@^~]))/;

/** Every name of the stash in a revision. */
export function inSession(revision: string): string {
  return revision.replace(STASH, `$1${SESSION_STASH}`);
}

/** Commands that read a revision, and no name of something new. */
const READING =
  `archive cat-file cherry cherry-pick describe diff diff-tree difftool format-patch log ls-tree merge-base
  name-rev range-diff reflog rev-list rev-parse shortlog show whatchanged`.split(/\s+/);

/** Other commands that take revisions. */
const OTHERS =
  `bisect blame branch checkout grep merge merge-tree notes push read-tree rebase reset restore revert
  switch tag update-ref worktree`.split(/\s+/);

/** Commands whose arguments may name the stash. */
export const NAMING_STASH: readonly string[] = [...READING, ...OTHERS];

/** Texts and names, not revisions. */
const VALUED = new Set([...TAKE_NEXT_WORD, '-m', '--message', '-F', '--file', '-b', '-B', '-c']);

const WITH_REVISION = /^(--(?:source|(?:no-)?contains|(?:no-)?merged|points-at|onto)=|-s)(.*)$/s;

export function mayNameStash(words: readonly string[]): boolean {
  return words.some((word) => word.includes('stash'));
}

interface Place extends GitDirectories {
  /** The directory in which git runs. */
  readonly cwd: string;
}

/** The arguments of a command, with the session's stash in place of the shared one. */
export function withSessionStash(command: string, args: readonly string[], place: Place): readonly string[] {
  if (!NAMING_STASH.includes(command)) return args;
  const reads = READING.includes(command);
  const end = args.indexOf('--');
  return args.map((word, i) => {
    if ((end >= 0 && i > end) || VALUED.has(args[i - 1] ?? '')) return word;
    const [, option = '', revision = word] = WITH_REVISION.exec(word) ?? [];
    if (MARKED.test(revision)) return `${option}${inSession(revision)}`;
    return reads && word === 'stash' && isStash(word, place) ? SESSION_STASH : word;
  });
}

function isStash(word: string, { gitDir, commonDir, cwd }: Place): boolean {
  if (existsSync(resolve(cwd, word))) return false;
  return existsSync(join(gitDir, SESSION_STASH)) || hasRef(commonDir, SHARED_STASH);
}
