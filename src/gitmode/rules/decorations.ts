/**
 * Decorations of log and its relatives. Any exclude, option or configuration, switches git's own choice of decorations
 * off, and notes, bisect marks and custom refs would appear. So the refs that git decorates by itself are named as
 * well, unless the user has chosen. Ours come last: `--clear-decorations` wipes what stands before it.
 */
import { canComplement } from '../../filter/globs.ts';
import { HEADS, REMOTES, TAGS } from '../../git/files/refnames.ts';
import { hiddenGlobs, lastConfig, type View } from '../view/view.ts';

/** What git decorates where nobody chose (log.c, set_default_decoration_filter), 2.39 to 2.55. */
export const DEFAULT_DECORATIONS = decorationOptions('refs/replace/');

function decorationOptions(replaced: string): string[] {
  return ['HEAD', HEADS, TAGS, REMOTES, 'refs/stash', replaced].map(
    (pattern) => `--decorate-refs=${pattern}`,
  );
}

export function decorations(options: readonly string[], view: View): string[] {
  if (view.namespaces.length === 0 || !mayDecorate(options)) return [];
  const { current } = view;
  const hidden = view.namespaces.flatMap((namespace) =>
    current?.startsWith(namespace) || !canComplement([namespace])
      ? hiddenGlobs({ ...view, namespaces: [namespace] }, '')
      : [namespace.slice(0, -1)],
  );
  return [...hidden.map((pattern) => `--decorate-refs-exclude=${pattern}`), ...defaultChoice(options, view)];
}

/** False only where it is sure that nothing is decorated; unneeded words would be harmless. */
function mayDecorate(options: readonly string[]): boolean {
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
  const replaced = process.env['GIT_REPLACE_REF_BASE'];
  return replaced === undefined ? DEFAULT_DECORATIONS : decorationOptions(replaced);
}
