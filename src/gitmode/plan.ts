/** Plans what to run, from the command line and the view. The rules are in rules/. */
import { localNamespaces, namesBelowRemotes } from '../filter/agent-refs.ts';
import { REMOTES } from '../git/files/ref-files.ts';
import { shellQuote } from '../process/shell-quote.ts';
import type { CommandLine } from './command-line/parse.ts';
import { COMMANDS } from './commands.ts';
import type { FilteredOutput } from './rules/rule.ts';
import { writeReplacedRefs } from './view/replaced-refs.ts';
import { configValue, hasNothingToHide, type View } from './view/view.ts';

/** The words that git gets. */
export interface GitCall {
  readonly words: readonly string[];
  /** Variables for its environment, besides those of the user. */
  readonly env?: Readonly<Record<string, string>>;
  /** A directory that git reads, to be deleted when git is done. */
  readonly directory?: string;
}

/** `line` is the command line with aliases expanded. */
export function planCommand(line: CommandLine, view: View): GitCall | FilteredOutput {
  const given = { words: [...line.globals, line.command, ...line.args] };
  const rule = COMMANDS.get(line.command)?.rule;
  if (rule === undefined || (line.args.length === 1 && line.args[0] === '-h')) return given;
  const plan = (hasNothingToHide(view) ? undefined : rule(line.args, view)) ?? { args: line.args };
  if ('filtered' in plan) return plan;
  const settings = [...(plan.config ?? []), ...alternateRefs(line.args, view)];
  const config = settings.flatMap((setting) => ['-c', setting]);
  const words = [...line.globals, ...config, plan.command ?? line.command, ...plan.args];
  if (plan.replacesRefs) return { words, ...writeReplacedRefs(view) };
  return { words, ...(plan.env && { env: plan.env }) };
}

/** The repository here may have nothing to hide, and the other one may. */
export function asksAlternates(args: readonly string[]): boolean {
  return args.includes('--alternate-refs');
}

/**
 * For `--alternate-refs` git asks each repository that objects are borrowed from for all of its refs, and takes no
 * exclude. So git gets another command for that question, unless the user has one.
 */
function alternateRefs(args: readonly string[], view: View): string[] {
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
