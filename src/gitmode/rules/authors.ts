/**
 * Agents' commits inside a visible history. With two branches per session they are reachable from hidden refs only,
 * and nothing is added; where somebody merged a shadow branch, they are left out by author.
 *
 * Limits: the shape of what is left is git's own, so `--graph`, `HEAD~n`, `--parents` and `Merge:` lines still know
 * of them; a .mailmap line for the agent's address makes them visible. Where the user's own pattern is not sure to
 * mean the same in PCRE, where a walk counts objects, and where a hidden ref is named outright, nothing is added.
 */
import {
  type PatternType,
  toPerl,
  visibleAuthor,
  visibleAuthorAlternatives,
  visibleAuthorLike,
} from '../../filter/author-pattern.ts';
import { HEADS, REMOTES, TAGS } from '../../git/files/refnames.ts';
import { configIsTrue, lastConfig, type View } from '../view/view.ts';
import type { AuthorFilter, Revisions } from './revisions.ts';

const PATTERN = /^--(author|committer|grep|grep-reflog)[= ](.*)$/s;
const NOT_COMMITS = /^--(objects|use-bitmap-index|disk-usage|bisect|no-walk|reflog|walk-reflogs)|^-g$/;

/** `usesConfig`: log and show read grep.patternType, rev-list and shortlog do not. */
export function filterAuthors(walk: Revisions, view: View, usesConfig: boolean): AuthorFilter {
  const unchanged = { args: walk.args, added: [] };
  if (!view.agentsInHistory() || walk.options.some((option) => NOT_COMMITS.test(option))) return unchanged;
  if (walk.args.slice(0, walk.end).some((word) => namesHidden(word, view))) return unchanged;

  const type = patternType(walk.options, view, usesConfig);
  const patterns = walk.options.filter((option) => PATTERN.test(option));
  const authors = patterns.filter((option) => option.startsWith('--author'));
  if (!view.hasPerlPatterns()) {
    if (authors.length > 0 || type === 'fixed') return unchanged;
    return { args: walk.args, added: visibleAuthorAlternatives(view.agentEmail).map((p) => `--author=${p}`) };
  }
  const translated = translate(walk, type, view.agentEmail);
  if (translated === undefined) return unchanged;
  const own = authors.length === 0 ? [`--author=${visibleAuthor(view.agentEmail)}`] : [];
  return { args: translated, added: [...own, '-P'] };
}

function translate(walk: Revisions, type: PatternType, email: string): string[] | undefined {
  const words: string[] = [];
  for (let i = 0; i < walk.args.length; i++) {
    const word = walk.args[i] as string;
    const detached = /^--(author|committer|grep|grep-reflog)$/.test(word) && i + 1 < walk.end;
    const match = i < walk.end ? PATTERN.exec(detached ? `${word} ${walk.args[i + 1]}` : word) : null;
    if (match === null) {
      words.push(word);
      continue;
    }
    const [, name = '', given = ''] = match;
    const perl = toPerl(given, type);
    if (perl === undefined) return undefined;
    words.push(`--${name}=${name === 'author' ? visibleAuthorLike(perl, email) : perl}`);
    if (detached) i++;
  }
  return words;
}

function patternType(options: readonly string[], view: View, usesConfig: boolean): PatternType {
  const TYPES: Record<string, PatternType> = {
    '-E': 'extended',
    '--extended-regexp': 'extended',
    '-F': 'fixed',
    '--fixed-strings': 'fixed',
    '-P': 'perl',
    '--perl-regexp': 'perl',
    '-G': 'basic',
    '--basic-regexp': 'basic',
  };
  const chosen = options.findLast((option) => TYPES[option] !== undefined);
  if (chosen !== undefined) return TYPES[chosen] as PatternType;
  const configured = usesConfig ? lastConfig(view, 'grep.patterntype') : undefined;
  if (
    configured === 'extended' ||
    configured === 'fixed' ||
    configured === 'perl' ||
    configured === 'basic'
  ) {
    return configured;
  }
  return usesConfig && configIsTrue(lastConfig(view, 'grep.extendedregexp')) ? 'extended' : 'basic';
}

/** A revision that names a hidden ref: `agtsessions/x`, `refs/agt/tip/x~2..main`. */
function namesHidden(word: string, view: View): boolean {
  if (word.startsWith('-')) return false;
  return word
    .split(/\.{2,3}/)
    .map((side) => side.replace(/^\^/, '').replace(/[~^@:].*$/, ''))
    .some((name) => ['', 'refs/', HEADS, TAGS, REMOTES].some((root) => view.isHidden(root + name)));
}
