/**
 * git log, show, whatchanged and reflog: sets of refs (revisions.ts), authors (author-filter.ts) and decorations
 * (decorations.ts).
 *
 * Limits: before git 2.54, `--reflog` shows hidden commits; `--indexed-objects` shows blobs from the index of every worktree.
 */

import { hasNothingToHide } from '../view/view.ts';
import { excludeAgentCommits } from './author-filter.ts';
import { decorationOptions } from './decorations.ts';
import { COUNT, parseRevisions, takesNoExcludes, withAddedOptions } from './revisions.ts';
import { type Rule, replacingRefs } from './rule.ts';

export const log: Rule = (args, view) => {
  if (hasNothingToHide(view)) return undefined;
  const walk = parseRevisions(args, view, { ...COUNT, sorts: true });
  const added = decorationOptions(walk.options, view);
  const rewrite = withAddedOptions(walk, excludeAgentCommits(walk, view, true), added);
  return takesNoExcludes(walk) ? replacingRefs(args, view, rewrite) : rewrite;
};

/** No author filter: show prints what the user names, and the entries of a reflog are no history. */
export const show: Rule = (args, view) => {
  if (hasNothingToHide(view)) return undefined;
  const walk = parseRevisions(args, view);
  const authors = { args: walk.args, added: [] };
  const rewrite = withAddedOptions(walk, authors, decorationOptions(walk.options, view));
  return takesNoExcludes(walk) ? replacingRefs(args, view, rewrite) : rewrite;
};

const NOT_SHOWING = ['expire', 'delete', 'exists', 'drop', 'write'];

export const reflog: Rule = (args, view) => {
  if (args[0] === 'list') return replacingRefs(args, view);
  return args[0] !== undefined && NOT_SHOWING.includes(args[0]) ? undefined : show(args, view);
};
