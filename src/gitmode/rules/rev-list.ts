/**
 * git rev-list, shortlog and rev-parse, bundle create, fast-export and format-patch: sets of refs only. They print no
 * decorations of their own.
 *
 * Limits: before git 2.54, `%d` and `%D` in formats, `--bisect-all`, `--simplify-by-decoration` and `--reflog` show what
 * is hidden.
 */

import { hasNothingToHide } from '../view/view.ts';
import { excludeAgentCommits } from './author-filter.ts';
import {
  COUNT,
  excludesBefore,
  parseRevisions,
  type Revisions,
  takesNoExcludes,
  withAddedOptions,
} from './revisions.ts';
import { type Rule, replacingRefs } from './rule.ts';

export const revList: Rule = (args, view) => {
  if (hasNothingToHide(view)) return undefined;
  const walk = parseRevisions(args, view, { ...COUNT, sorts: true });
  const rewrite = withAddedOptions(walk, excludeAgentCommits(walk, view, false));
  return takesNoExcludes(walk) || decorates(walk) ? replacingRefs(args, view, rewrite) : rewrite;
};

/** These load all decorations, and take no filter. */
function decorates({ options }: Revisions): boolean {
  return options.some((option) =>
    /^--(bisect-all|simplify-by-decoration)$|^--(format|pretty|group)\b.*%[-+ ]?([dD]|\(decorate)/.test(
      option,
    ),
  );
}

export const SHORTLOG_OPTIONS = { takeNextWord: ['--group'] };

export const shortlog: Rule = (args, view) => {
  if (hasNothingToHide(view)) return undefined;
  const walk = parseRevisions(args, view, { ...SHORTLOG_OPTIONS, sorts: true });
  const rewrite = withAddedOptions(walk, excludeAgentCommits(walk, view, false));
  return takesNoExcludes(walk) || decorates(walk) ? replacingRefs(args, view, rewrite) : rewrite;
};

/** rev-parse reads its words one by one. After `--parseopt` or `--sq-quote` they are another program's words. */
export const revParse: Rule = (args, view) => {
  if (view.namespaces.length === 0 || args[0] === '--parseopt' || args[0] === '--sq-quote') return undefined;
  const words: string[] = [];
  for (const [i, word] of args.entries()) {
    if (word === '--' || word === '--end-of-options') {
      words.push(...args.slice(i));
      break;
    }
    const excludes = word === '--stdin' || word === '--glob' ? [] : excludesBefore(word, view);
    // rev-parse --all names no HEAD of another worktree.
    words.push(...excludes.filter((exclude) => !exclude.endsWith('/HEAD')), word);
  }
  return words.length === args.length ? undefined : { args: words };
};

export const bundle: Rule = (args, view) => {
  if (args[0] !== 'create' || hasNothingToHide(view)) return undefined;
  const revisions = parseRevisions(args.slice(1), view);
  return revisions.changed ? { args: ['create', ...revisions.args] } : undefined;
};

const FAST_EXPORT_OPTIONS = `-n --progress --signed-tags --signed-commits --tag-of-filtered-object --reencode
  --export-marks --import-marks --import-marks-if-exists --refspec --anonymize-map`.split(/\s+/);

export const fastExport: Rule = (args, view) => {
  if (hasNothingToHide(view)) return undefined;
  const revisions = parseRevisions(args, view, { takeNextWord: FAST_EXPORT_OPTIONS });
  return revisions.changed ? { args: revisions.args } : undefined;
};

const FORMAT_PATCH_OPTIONS = `-o --output-directory -v --reroll-count --start-number --suffix --subject-prefix
  --filename-max-length --in-reply-to --to --cc --add-header --signature --signature-file --base --interdiff
  --range-diff --creation-factor --cover-from-description`.split(/\s+/);

export const formatPatch: Rule = (args, view) => {
  if (hasNothingToHide(view)) return undefined;
  const revisions = parseRevisions(args, view, { takeNextWord: FORMAT_PATCH_OPTIONS });
  return revisions.changed ? { args: revisions.args } : undefined;
};

export const repo: Rule = (args, view) => (args[0] === 'structure' ? replacingRefs(args, view) : undefined);

/** The words after `--` choose the refs to rewrite. */
export const filterBranch: Rule = (args, view) => {
  const start = args.indexOf('--') + 1;
  if (hasNothingToHide(view) || start === 0) return undefined;
  const walk = parseRevisions(args.slice(start), view);
  return walk.changed ? { args: [...args.slice(0, start), ...walk.args] } : undefined;
};
