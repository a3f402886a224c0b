/**
 * git log, show, whatchanged and reflog: sets of refs (revisions.ts) and decorations (decorations.ts).
 *
 * Limits: `--reflog` takes no excludes; blobs of other worktrees' indexes (`--indexed-objects`) are shown.
 */
import type { Rule } from '../plan.ts';
import { withAuthorFilter } from './authors.ts';
import { decorations } from './decorations.ts';
import { readRevisions } from './revisions.ts';

const LOG = { values: ['-n'] };

export const log: Rule = (args, view) => {
  if (view.spaces.length === 0) return undefined;
  const revisions = readRevisions(args, view, LOG);
  const added = [...withAuthorFilter(revisions.options, view), ...decorations(revisions.options, view)];
  if (added.length === 0 && !revisions.changed) return undefined;
  return {
    args: [...revisions.args.slice(0, revisions.end), ...added, ...revisions.args.slice(revisions.end)],
  };
};

const REFLOG_WRITES = new Set(['expire', 'delete', 'exists', 'drop', 'write', 'list']);

export const reflog: Rule = (args, view) =>
  args[0] !== undefined && REFLOG_WRITES.has(args[0]) ? undefined : log(args, view);
