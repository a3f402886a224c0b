/** Plans what to run, from the command line and the view. The rules are in rules/. */
import type { CommandLine } from './command-line/parse.ts';
import { COMMANDS } from './commands.ts';
import { alternateRefs } from './rules/alternate-refs.ts';
import type { FilteredOutput } from './rules/rule.ts';
import { writeReplacedRefs } from './view/replaced-refs.ts';
import { hasNothingToHide, type View } from './view/view.ts';

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
