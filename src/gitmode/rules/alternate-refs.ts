/**
 * `--alternate-refs` of log and rev-list: git asks each repository that objects are borrowed from for all of its refs, and
 * takes no exclude for them. So git gets another command for that question, which leaves out the agents' refs.
 */
import { localNamespaces, namesBelowRemotes } from '../../filter/agent-refs.ts';
import { REMOTES } from '../../git/files/ref-files.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { configValue, type View } from '../view/view.ts';

/** The repository here may have nothing to hide, and the other one may. */
export function asksAlternates(args: readonly string[]): boolean {
  return args.includes('--alternate-refs');
}

/** Settings for git; none if the user has a command of their own. */
export function alternateRefs(args: readonly string[], view: View): string[] {
  if (!asksAlternates(args) || view.config('core.alternaterefscommand').length > 0) return [];
  const names = namesBelowRemotes(view.prefixes).map((name) => `${REMOTES}[^ ]*/${literal(name)}`);
  const hidden = [...localNamespaces(view.prefixes).map(literal), ...names].join('|');
  // git itself would read this setting.
  const prefixes = (configValue(view, 'core.alternaterefsprefixes') ?? '').split(' ').filter(Boolean);
  const list = `git --git-dir="$1" for-each-ref --format="%(objectname) %(refname)" ${prefixes.map(shellQuote).join(' ')}`;
  return [`core.alternateRefsCommand=f() { ${list} | sed -nE '\\, (${hidden}),!s, .*,,p'; }; f`];
}

/** A prefix of branches may hold what means something to sed. */
function literal(name: string): string {
  return name.replace(/[.*+?^$(){}|[\]\\,']/g, (char) => (char === "'" ? '.' : `\\${char}`));
}
