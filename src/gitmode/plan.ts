/** Plans what to run, by a pure function of the command line and the view. The rules are in rules/. */
import type { CommandLine } from './command-line/parse.ts';
import { COMMANDS } from './commands.ts';
import type { FilteredOutput } from './rules/rule.ts';
import type { View } from './view/view.ts';

/** The words for git, or output to filter. `line` is the command line with aliases expanded. */
export function planCommand(line: CommandLine, view: View): readonly string[] | FilteredOutput {
  const given = [...line.globals, line.command, ...line.args];
  const rule = COMMANDS.get(line.command)?.rule;
  if (rule === undefined || (line.args.length === 1 && line.args[0] === '-h')) return given;
  const plan = rule(line.args, view);
  if (plan === undefined) return given;
  if ('printFiltered' in plan) return plan;
  const config = (plan.config ?? []).flatMap((setting) => ['-c', setting]);
  return [...line.globals, ...config, plan.command ?? line.command, ...plan.args];
}
