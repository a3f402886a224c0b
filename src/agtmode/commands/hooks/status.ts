import { logKilled } from '../../../integrations/running-hooks.ts';
import { INTEGRATIONS } from '../../../integrations/tools.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { chosenTools, PROJECT_OPTION, TOOLS_ARGUMENT } from '../../hooks/settings-files.ts';
import { type HookStatus, statusOf } from '../../hooks/status.ts';
import { age, showPath, table } from '../../output/format.ts';

export const hooksStatus = defineCommand({
  usage: 'hooks status [tools..]',
  group: 'setup',
  summary: 'show which agents have hooks of agt, and when the last event came',
  description:
    'Show for each agent whether the hooks are installed, the last event that came, and the last failure. Hooks that ' +
    'call another agt, or one that is gone, or lack an event, are outdated: agt hooks install mends them.',
  positionals: { tools: TOOLS_ARGUMENT },
  options: { project: PROJECT_OPTION, json: JSON_OPTION },
  examples: [['agt hooks status', 'show all agents']],
  run: async (args, context) => {
    const { tools = [] } = args;
    const integrations = tools.length === 0 ? INTEGRATIONS : chosenTools(tools);
    logKilled(context.env);
    const lines = await Array.fromAsync(integrations, (one) => statusOf(context, one, args.project));
    const now = context.now();
    const rows = lines.map(({ integration, state, last_event: last }) => [
      integration.name,
      state.replaceAll('-', ' '),
      last === null ? '' : `${age(new Date(last.at), now)} (${last.event})`,
    ]);
    return {
      json: lines.map(({ integration, ...line }) => ({ tool: integration.name, ...line })),
      text: table([['AGENT', 'HOOKS', 'LAST EVENT'], ...rows]),
      notes: lines.map((line) => warningsOf(line, now)).join(''),
    };
  },
});

function warningsOf({ integration, problem, mend, last_failure: failure }: HookStatus, now: Date): string {
  const of = (warning: string) => `warning: ${integration.title}: ${warning}\n`;
  return [
    ...(problem === null ? [] : [of(problem)]),
    ...(mend === null ? [] : [`hint: ${mend}\n`]),
    ...(failure === null
      ? []
      : [of(`a hook failed ${age(new Date(failure.at), now)}: ${showPath(failure.reason)}`)]),
  ].join('');
}
