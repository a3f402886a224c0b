/**
 * `(command line, view) → plan`: the decision, without effects. Each command's rule is a file in rules/; a rule that
 * answers undefined leaves the line as it was given.
 */
import type { CommandLine } from './command-line/parse.ts';
import { COMMANDS } from './commands.ts';
import type { Rendering } from './rules/rule.ts';
import type { View } from './view/view.ts';

/** The words for git, or a rendering. `line` is the command line after aliases. */
export function planCommand(line: CommandLine, view: View): readonly string[] | Rendering {
  const given = [...line.globals, line.command, ...line.args];
  const rule = COMMANDS.get(line.command)?.rule;
  if (rule === undefined || (line.args.length === 1 && line.args[0] === '-h')) return given;
  const plan = rule(line.args, view);
  if (plan === undefined) return given;
  if ('render' in plan) return plan;
  const config = (plan.config ?? []).flatMap((setting) => ['-c', setting]);
  return [...line.globals, ...config, plan.command ?? line.command, ...plan.args];
}
