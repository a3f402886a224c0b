/**
 * git log, show, whatchanged and reflog: sets of refs (revisions.ts), authors (author-filter.ts) and decorations
 * (decorations.ts).
 *
 * Limits: `--reflog` takes no excludes; `--indexed-objects` shows blobs from the index of every worktree.
 */

import { hasNothingToHide } from '../view/view.ts';
import { excludeAgentCommits } from './author-filter.ts';
import { decorationOptions } from './decorations.ts';
import { parseRevisions, withAddedOptions } from './revisions.ts';
import type { Rule } from './rule.ts';

export const log: Rule = (args, view) => {
  if (hasNothingToHide(view)) return undefined;
  const walk = parseRevisions(args, view);
  return withAddedOptions(walk, excludeAgentCommits(walk, view, true), decorationOptions(walk.options, view));
};

/** No author filter: show prints what the user names, and the entries of a reflog are no history. */
export const show: Rule = (args, view) => {
  if (hasNothingToHide(view)) return undefined;
  const walk = parseRevisions(args, view);
  return withAddedOptions(walk, { args: walk.args, added: [] }, decorationOptions(walk.options, view));
};

const NOT_SHOWING = ['expire', 'delete', 'exists', 'drop', 'write', 'list'];

export const reflog: Rule = (args, view) =>
  args[0] !== undefined && NOT_SHOWING.includes(args[0]) ? undefined : show(args, view);
