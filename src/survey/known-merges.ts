/**
 * Answers of merges that a listing has asked before: in a large repository they take most of its time. The scratch merge
 * commit of two sides has the same name each time, and that name stands for both sides with all of their history. All else
 * on which the answer depends is in the fingerprint at the head of the file; with another one the file counts for nothing.
 */
import { dirname, join } from 'node:path';
import { attributeFiles } from '../autocommit/stat-cache/converted.ts';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { readIfThere } from '../disk/read-file.ts';
import { realPath } from '../disk/real-path.ts';
import { attempt } from '../errors.ts';
import { openHash } from '../git/objects/hash.ts';
import type { GitConfig } from '../git/run/config.ts';
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import { knownMergesFile } from '../layout.ts';
import { once } from '../once.ts';
import type { DiffStat } from './patches.ts';

/** A question about a merge. */
type Question = 'conflicts' | 'empty' | 'merged' | 'landed';

/** So many answers the file has at most, the newest ones: four for each of 500 sessions, 120 KB. */
const MOST = 2000;

type Counts = Pick<DiffStat, 'files' | 'insertions' | 'deletions'>;

export interface KnownMerges {
  readonly get: (question: Question, merge: string) => boolean | undefined;
  readonly add: (question: Question, merge: string, answer: boolean) => void;
  /** What a merge without conflicts would bring. */
  readonly counts: (merge: string) => Counts | undefined;
  readonly addCounts: (merge: string, counts: Counts) => void;
  /** Writes what is new. Without the file, git merges again. */
  readonly save: () => void;
}

/** `git` merges, and `config` are its settings. */
export function openKnownMerges(agtDir: string, commonDir: string, git: Git, config: GitConfig): KnownMerges {
  const file = knownMergesFile(agtDir);
  const known = new Map<string, string>();
  let hasNew = false;
  const head = once(() => {
    const own = fingerprint(git, commonDir, config);
    const [first, ...lines] = readIfThere(file).split('\n').slice(0, -1);
    if (own === undefined || first !== own) return own;
    for (const line of lines) {
      const [, key, answer] = LINE.exec(line) ?? [];
      if (key !== undefined && answer !== undefined) known.set(key, answer);
    }
    return own;
  });
  const find = (key: string) => {
    head();
    return known.get(key);
  };
  const add = (key: string, answer: string) => {
    known.set(key, answer);
    hasNew = true;
  };
  return {
    get: (question, merge) => {
      const answer = find(`${question} ${merge}`);
      return answer === undefined ? undefined : answer === 'yes';
    },
    add: (question, merge, answer) => add(`${question} ${merge}`, answer ? 'yes' : 'no'),
    counts: (merge) => {
      const counts = find(`counts ${merge}`)?.split(',').map(Number);
      const [files = 0, insertions = 0, deletions = 0] = counts ?? [];
      return counts && { files, insertions, deletions };
    },
    addCounts: (merge, { files, insertions, deletions }) =>
      add(`counts ${merge}`, [files, insertions, deletions].join()),
    save: () => {
      const own = hasNew ? head() : undefined;
      if (own === undefined) return;
      const lines = [...known].slice(-MOST).map(([key, answer]) => `${key} ${answer}\n`);
      // Another listing may write at the same time; a part of the file is worth as much as it has whole lines.
      attempt(() => writeFileAtomic(file, `${own}\n${lines.join('')}`, { cache: true }));
    },
  };
}

const LINE =
  /^((?:conflicts|empty|merged|landed|counts) [0-9a-f]{40}(?:[0-9a-f]{24})?) (yes|no|\d+,\d+,\d+)$/;

/** Undefined if agt cannot know what a merge depends on, such as the program of a merge driver. */
function fingerprint(git: Git, commonDir: string, config: GitConfig): string | undefined {
  const ask = (...words: string[]) => askGitSync(git, words)?.toString('latin1');
  const version = ask('--version');
  const settings = [...config].filter(([key]) => /^(attr|core|diff|filter|merge)\./.test(key));
  const replaced = ask('for-each-ref', '--format=%(refname) %(objectname)', 'refs/replace/');
  if (version === undefined || replaced === undefined) return undefined;
  if (settings.some(([key]) => /^merge\..*\.driver$/s.test(key))) return undefined;
  const files = [
    ...['info/grafts', 'shallow'].map((name) => join(commonDir, name)),
    ...attributeFiles(git, commonDir, [], config),
    join(dirname(realPath(git.path)), '../etc/gitattributes'),
  ];
  const parts = [version, ...settings, replaced, ...files.map(readIfThere)];
  return openHash('sha1').update(JSON.stringify(parts)).digest();
}
