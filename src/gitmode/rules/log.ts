/**
 * git log, show, whatchanged and reflog: sets of refs (revisions.ts) and decorations.
 *
 * Any exclude of decorations, option or configuration, switches git's own choice of decorations off, and notes,
 * bisect marks and custom refs would appear. So the refs that git decorates by itself are named as well, unless the
 * user has chosen. Ours come last: `--clear-decorations` wipes what stands before it.
 *
 * Limits: `--reflog` takes no excludes; blobs of other worktrees' indexes (`--indexed-objects`) are shown.
 */
import { canComplement } from '../../filter/globs.ts';
import type { Rule } from '../plan.ts';
import { currentUnder, hiddenGlobs, lastConfig, type View } from '../view.ts';
import { withAuthorFilter } from './authors.ts';
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

function decorations(options: readonly string[], view: View): string[] {
  if (!mayDecorate(options, view)) return [];
  const current = currentUnder(view, '');
  const hidden = view.spaces.flatMap((space) =>
    current?.startsWith(space) || !canComplement([space])
      ? hiddenGlobs({ ...view, spaces: [space] }, '')
      : [space.slice(0, -1)],
  );
  return [...hidden.map((pattern) => `--decorate-refs-exclude=${pattern}`), ...defaultChoice(options, view)];
}

/** False only where it is sure that nothing is decorated; unneeded words would be harmless. */
function mayDecorate(options: readonly string[], _view: View): boolean {
  const last = options.findLast((option) => /^--(no-)?decorate(=|$)/.test(option));
  return last !== '--no-decorate' && last !== '--decorate=no'
    ? true
    : options.some((option) => /^--(format|pretty)(=|$)/.test(option));
}

/** git's own choice of decorations, as options, where the user has made none. */
export function defaultChoice(options: readonly string[], view: View): string[] {
  const chosen = options.some((option) =>
    /^--(decorate-refs(-exclude)?[= ]|clear-decorations$)/.test(option),
  );
  if (chosen || view.config('log.excludedecoration').length > 0) return [];
  if (lastConfig(view, 'log.initialdecorationset') === 'all') return [];
  const replaced = process.env['GIT_REPLACE_REF_BASE'] ?? 'refs/replace/';
  return ['HEAD', 'refs/heads/', 'refs/tags/', 'refs/remotes/', 'refs/stash', replaced].map(
    (pattern) => `--decorate-refs=${pattern}`,
  );
}
