/**
 * Commands that walk a history: sets of refs (revisions.ts), authors (author-filter.ts) and, where they show them,
 * decorations (decorations.ts).
 *
 * Limits: before git 2.54, `--reflog`, `%d` and `%D` in formats of rev-list and shortlog, `--bisect-all` and
 * `--simplify-by-decoration` show what is hidden; `--indexed-objects` shows blobs from the index of every worktree.
 */
import type { View } from '../view/view.ts';
import { excludeAgentCommits } from './author-filter.ts';
import { decorationOptions } from './decorations.ts';
import {
  COUNT,
  excludesBefore,
  type OwnOptions,
  parseRevisions,
  type Revisions,
  takesNoExcludes,
  withAddedOptions,
} from './revisions.ts';
import { type Rewrite, type Rule, replacingRefs } from './rule.ts';

interface Walk {
  readonly options: OwnOptions;
  /** Agents' commits in a visible history are left out; grep.patternType may count. */
  readonly authors?: 'configured' | 'plain';
  readonly shows?: 'decorations';
  /** Whether no argument hides all: git then gets other refs. Never, if the command writes refs. */
  readonly needsOtherRefs?: (walk: Revisions) => boolean;
}

function rewriteWalk(args: readonly string[], view: View, command: Walk): Rewrite | undefined {
  const walk = parseRevisions(args, view, command.options);
  const filtered =
    command.authors === undefined
      ? { args: walk.args, added: [] }
      : excludeAgentCommits(walk, view, command.authors === 'configured');
  const decorations = command.shows === undefined ? [] : decorationOptions(walk.options, view);
  const rewrite = withAddedOptions(walk, filtered, decorations);
  return command.needsOtherRefs?.(walk) === true ? replacingRefs(args, view, rewrite) : rewrite;
}

const walking =
  (command: Walk): Rule =>
  (args, view) =>
    rewriteWalk(args, view, command);

export const log = walking({
  options: { ...COUNT, sorts: true },
  authors: 'configured',
  shows: 'decorations',
  needsOtherRefs: takesNoExcludes,
});

/** No author filter: show prints what the user names, and the entries of a reflog are no history. */
export const show = walking({ options: COUNT, shows: 'decorations', needsOtherRefs: takesNoExcludes });

const NOT_SHOWING = ['expire', 'delete', 'exists', 'drop', 'write'];

export const reflog: Rule = (args, view) => {
  if (args[0] === 'list') return replacingRefs(args, view);
  return args[0] !== undefined && NOT_SHOWING.includes(args[0]) ? undefined : show(args, view);
};

/** rev-list and shortlog load all decorations for these, and take no filter. */
function decorates({ options }: Revisions): boolean {
  return options.some((option) =>
    /^--(bisect-all|simplify-by-decoration)$|^--(format|pretty|group)\b.*%[-+ ]?([dD]|\(decorate)/.test(
      option,
    ),
  );
}

const needsOtherRefs = (walk: Revisions) => takesNoExcludes(walk) || decorates(walk);

export const revList = walking({ options: { ...COUNT, sorts: true }, authors: 'plain', needsOtherRefs });

export const SHORTLOG_OPTIONS = { takeNextWord: ['--group'] };

export const shortlog = walking({
  options: { ...SHORTLOG_OPTIONS, sorts: true },
  authors: 'plain',
  needsOtherRefs,
});

export const fastExport = walking({
  options: {
    takeNextWord:
      `-n --progress --signed-tags --signed-commits --tag-of-filtered-object --reencode --export-marks
      --import-marks --import-marks-if-exists --refspec --anonymize-map`.split(/\s+/),
  },
});

export const formatPatch = walking({
  options: {
    takeNextWord: `-o --output-directory -v --reroll-count --start-number --suffix --subject-prefix
      --filename-max-length --in-reply-to --to --cc --add-header --signature --signature-file --base --interdiff
      --range-diff --creation-factor --cover-from-description`.split(/\s+/),
  },
});

export const bundle: Rule = (args, view) => (args[0] === 'create' ? walkAfter(1, args, view) : undefined);

/** The words after `--` choose the refs to rewrite. */
export const filterBranch: Rule = (args, view) =>
  args.includes('--') ? walkAfter(args.indexOf('--') + 1, args, view) : undefined;

/** Only the words from `start` on are those of a walk. */
function walkAfter(start: number, args: readonly string[], view: View): Rewrite | undefined {
  const rewrite = rewriteWalk(args.slice(start), view, { options: COUNT });
  return rewrite && { args: [...args.slice(0, start), ...rewrite.args] };
}

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

export const repo: Rule = (args, view) => (args[0] === 'structure' ? replacingRefs(args, view) : undefined);
