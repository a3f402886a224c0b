/**
 * Decorations of log and its relatives. As soon as one decoration is excluded, by an option or by configuration, git
 * drops its default choice, and also decorates with notes, bisect marks and custom refs. So the rule adds the default
 * choice as options too, unless the user chose decorations. The options come after the user's, because
 * `--clear-decorations` clears those before it.
 */
import { areAscii } from '../../filter/globs.ts';
import { HEADS, REMOTES, TAGS } from '../../git/files/ref-files.ts';
import { configValue, hiddenGlobsIn, type View } from '../view/view.ts';

/** git's default choice (set_default_decoration_filter in log.c, 2.39 to 2.55). */
export const DEFAULT_DECORATIONS = decorateRefs('refs/replace/');

function decorateRefs(replaceRefs: string): string[] {
  return ['HEAD', HEADS, TAGS, REMOTES, 'refs/stash', replaceRefs].map(
    (pattern) => `--decorate-refs=${pattern}`,
  );
}

/** Options to add after the user's `options`. */
export function decorationOptions(options: readonly string[], view: View): string[] {
  if (view.namespaces.length === 0 || !mayDecorate(options)) return [];
  const current = view.currentAgentBranch;
  const hidden = view.namespaces.flatMap((namespace) =>
    current?.startsWith(namespace) || !areAscii([namespace])
      ? hiddenGlobsIn(namespace, current)
      : [namespace.replace(/\/$/, '')],
  );
  return [
    ...hidden.map((pattern) => `--decorate-refs-exclude=${pattern}`),
    ...defaultDecorations(options, view),
  ];
}

/** False only if git certainly decorates nothing; the options would do no harm then. */
function mayDecorate(options: readonly string[]): boolean {
  const last = options.findLast((option) => /^--(no-)?decorate(=|$)/.test(option));
  const isOff = last === '--no-decorate' || last === '--decorate=no';
  return !isOff || options.some((option) => /^--(format|pretty)(=|$)/.test(option));
}

/** git's default choice as options; none if the user chose decorations. */
function defaultDecorations(options: readonly string[], view: View): string[] {
  const chosen = options.some((option) =>
    /^--(decorate-refs(-exclude)?[= ]|clear-decorations$)/.test(option),
  );
  if (chosen || view.config('log.excludedecoration').length > 0) return [];
  if (configValue(view, 'log.initialdecorationset') === 'all') return [];
  const replaceRefs = process.env['GIT_REPLACE_REF_BASE'];
  return replaceRefs === undefined ? DEFAULT_DECORATIONS : decorateRefs(replaceRefs);
}
