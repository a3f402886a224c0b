/**
 * git log, show, whatchanged and reflog: sets of refs (revisions.ts) and decorations (decorations.ts).
 *
 * Limits: `--reflog` takes no excludes; blobs of other worktrees' indexes (`--indexed-objects`) are shown.
 */

import { hidesNothing } from '../view/view.ts';
import { filterAuthors } from './authors.ts';
import { decorations } from './decorations.ts';
import { finish, readRevisions } from './revisions.ts';
import type { Rule } from './rule.ts';

const LOG = { values: ['-n'] };

export const log: Rule = (args, view) => {
  if (hidesNothing(view)) return undefined;
  const walk = readRevisions(args, view, LOG);
  return finish(walk, filterAuthors(walk, view, true), decorations(walk.options, view));
};

/** What show is given is named outright, and a reflog's entries are not a history: no filter by author. */
export const show: Rule = (args, view) => {
  if (hidesNothing(view)) return undefined;
  const walk = readRevisions(args, view, LOG);
  return finish(walk, { args: walk.args, added: [] }, decorations(walk.options, view));
};

const REFLOG_WRITES = new Set(['expire', 'delete', 'exists', 'drop', 'write', 'list']);

export const reflog: Rule = (args, view) =>
  args[0] !== undefined && REFLOG_WRITES.has(args[0]) ? undefined : show(args, view);
