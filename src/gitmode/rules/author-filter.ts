/**
 * Agents' commits inside a visible history. A session has two branches, so that its commits are usually reachable from
 * hidden refs alone, and this rule adds nothing. If somebody merged a shadow branch, it excludes them by author.
 *
 * Limits: `--graph`, `HEAD~n`, `--parents` and `Merge:` lines still show the shape of the full history. A .mailmap line
 * for the agent's address makes its commits visible. The rule adds nothing when a pattern of the user might mean
 * something else in PCRE, when the walk counts objects, and when the user names a hidden ref.
 */
import {
  notByAgent,
  notByAgentAndMatching,
  notByAgentWithoutPcre,
  type PatternType,
  toPcre,
} from '../../filter/author-pattern.ts';
import { HEADS, REMOTES, TAGS } from '../../git/files/ref-files.ts';
import { configValue, isConfigTrue, type View } from '../view/view.ts';
import type { AuthorFilter, Revisions } from './revisions.ts';

const PATTERN = /^--(author|committer|grep|grep-reflog)[= ](.*)$/s;
const NOT_COMMITS = /^--(objects|use-bitmap-index|disk-usage|bisect|no-walk|reflog|walk-reflogs)|^-g$/;

/** `usesConfig`: log and show read grep.patternType, rev-list and shortlog do not. */
export function excludeAgentCommits(walk: Revisions, view: View, usesConfig: boolean): AuthorFilter {
  const unchanged = { args: walk.args, added: [] };
  if (!view.hasVisibleAgentCommits() || walk.options.some((option) => NOT_COMMITS.test(option)))
    return unchanged;
  if (walk.args.slice(0, walk.end).some((word) => namesHiddenRef(word, view))) return unchanged;

  const type = patternType(walk.options, view, usesConfig);
  const hasAuthors = walk.options.some((option) => PATTERN.test(option) && option.startsWith('--author'));
  if (!view.hasPcre()) {
    if (hasAuthors || type === 'fixed') return unchanged;
    return { args: walk.args, added: notByAgentWithoutPcre(view.agentEmail).map((p) => `--author=${p}`) };
  }
  const translated = translatePatterns(walk, type, view.agentEmail);
  if (translated === undefined) return unchanged;
  const own = hasAuthors ? [] : [`--author=${notByAgent(view.agentEmail)}`];
  return { args: translated, added: [...own, '-P'] };
}

/** The walk's words with the user's patterns in PCRE; undefined when one of them might mean something else then. */
function translatePatterns(walk: Revisions, type: PatternType, email: string): string[] | undefined {
  const words: string[] = [];
  for (let i = 0; i < walk.args.length; i++) {
    const word = walk.args[i] as string;
    const valueIsNext = /^--(author|committer|grep|grep-reflog)$/.test(word) && i + 1 < walk.end;
    const match = i < walk.end ? PATTERN.exec(valueIsNext ? `${word} ${walk.args[i + 1]}` : word) : null;
    if (match === null) {
      words.push(word);
      continue;
    }
    const [, name = '', pattern = ''] = match;
    const pcre = toPcre(pattern, type);
    if (pcre === undefined) return undefined;
    words.push(`--${name}=${name === 'author' ? notByAgentAndMatching(pcre, email) : pcre}`);
    if (valueIsNext) i++;
  }
  return words;
}

const TYPE_OPTIONS: Readonly<Record<string, PatternType>> = {
  '-E': 'extended',
  '--extended-regexp': 'extended',
  '-F': 'fixed',
  '--fixed-strings': 'fixed',
  '-P': 'perl',
  '--perl-regexp': 'perl',
  '-G': 'basic',
  '--basic-regexp': 'basic',
};

function patternType(options: readonly string[], view: View, usesConfig: boolean): PatternType {
  const chosen = options.map((option) => TYPE_OPTIONS[option]).findLast((type) => type !== undefined);
  if (chosen !== undefined) return chosen;
  if (!usesConfig) return 'basic';
  const configured = configValue(view, 'grep.patterntype');
  const known = (['extended', 'fixed', 'perl', 'basic'] as const).find((type) => type === configured);
  return known ?? (isConfigTrue(configValue(view, 'grep.extendedregexp')) ? 'extended' : 'basic');
}

/** A revision that names a hidden ref: `agtsessions/x`, `refs/agt/tip/x~2..main`. */
function namesHiddenRef(word: string, view: View): boolean {
  if (word.startsWith('-')) return false;
  return word
    .split(/\.{2,3}/)
    .map((side) => side.replace(/^\^/, '').replace(/[~^@:].*$/, ''))
    .some((name) => ['', 'refs/', HEADS, TAGS, REMOTES].some((root) => view.isHidden(root + name)));
}
