/**
 * git rev-list, shortlog and rev-parse: sets of refs only; they print no decorations of their own.
 *
 * Limits: `%d` and `%D` in formats, `--bisect-all` and `--simplify-by-decoration` load all decorations and take no
 * filter; `--reflog` takes no excludes.
 */

import { hidesNothing } from '../view/view.ts';
import { filterAuthors } from './authors.ts';
import { excludesFor, finish, readRevisions } from './revisions.ts';
import type { Rule } from './rule.ts';

export const revList: Rule = (args, view) => {
  if (hidesNothing(view)) return undefined;
  const walk = readRevisions(args, view);
  return finish(walk, filterAuthors(walk, view, false));
};

export const shortlog: Rule = (args, view) => {
  if (hidesNothing(view)) return undefined;
  const walk = readRevisions(args, view, { values: ['--group'], flags: ['-n'] });
  return finish(walk, filterAuthors(walk, view, false));
};

/** rev-parse reads its words one by one; after `--parseopt` or `--sq-quote` they are not its own. */
export const revParse: Rule = (args, view) => {
  if (view.namespaces.length === 0 || args[0] === '--parseopt' || args[0] === '--sq-quote') return undefined;
  const words: string[] = [];
  for (const [i, word] of args.entries()) {
    if (word === '--' || word === '--end-of-options') {
      words.push(...args.slice(i));
      break;
    }
    const stated = word === '--stdin' || word === '--glob' ? [] : excludesFor(word, view);
    words.push(...stated.filter((exclude) => !/\/HEAD$/.test(exclude)), word);
  }
  return words.length === args.length ? undefined : { args: words };
};

/** bundle create, fast-export and format-patch: the same walk behind options of their own. */
export const bundle: Rule = (args, view) => {
  if (args[0] !== 'create' || hidesNothing(view)) return undefined;
  const revisions = readRevisions(args.slice(1), view);
  return revisions.changed ? { args: ['create', ...revisions.args] } : undefined;
};

const FAST_EXPORT = [
  '--progress',
  '--signed-tags',
  '--signed-commits',
  '--tag-of-filtered-object',
  '--reencode',
  '--export-marks',
  '--import-marks',
  '--import-marks-if-exists',
  '--refspec',
  '--anonymize-map',
];

export const fastExport: Rule = (args, view) => {
  if (hidesNothing(view)) return undefined;
  const revisions = readRevisions(args, view, { values: [...FAST_EXPORT, '-n'] });
  return revisions.changed ? { args: revisions.args } : undefined;
};

const FORMAT_PATCH = [
  '-o',
  '--output-directory',
  '-v',
  '--reroll-count',
  '--start-number',
  '--suffix',
  '--subject-prefix',
  '--filename-max-length',
  '--in-reply-to',
  '--to',
  '--cc',
  '--add-header',
  '--signature',
  '--signature-file',
  '--base',
  '--interdiff',
  '--range-diff',
  '--creation-factor',
  '--cover-from-description',
  '--rfc',
  '-n',
];

export const formatPatch: Rule = (args, view) => {
  if (hidesNothing(view)) return undefined;
  const values = FORMAT_PATCH.filter((word) => word !== '-n' && word !== '--rfc');
  const revisions = readRevisions(args, view, { values, flags: ['-n'] });
  return revisions.changed ? { args: revisions.args } : undefined;
};
