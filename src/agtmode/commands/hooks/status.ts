import { EXIT } from '../../../errors.ts';
import { logKilled } from '../../../integrations/running-hooks.ts';
import { INTEGRATIONS } from '../../../integrations/tools.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { chosenTools, PROJECT_OPTION, TOOLS_ARGUMENT } from '../../hooks/settings-files.ts';
import { type HookStatus, statusOf } from '../../hooks/status.ts';
import { age, json, showPath, table } from '../../output/format.ts';

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
    const integrations =
      (args.tools ?? []).length === 0 ? INTEGRATIONS : chosenTools({ tools: args.tools, all: false });
    logKilled(context.env);
    const lines: HookStatus[] = [];
    for (const integration of integrations) lines.push(await statusOf(context, integration, args.project));
    if (args.json) {
      context.out(json(lines.map(({ integration, ...line }) => ({ tool: integration.name, ...line }))));
      return EXIT.done;
    }
    const now = context.now();
    const rows = lines.map(({ integration, state, last_event: last }) => [
      integration.name,
      state.replaceAll('-', ' '),
      last === null ? '' : `${age(new Date(last.at), now)} (${last.event})`,
    ]);
    context.out(table([['AGENT', 'HOOKS', 'LAST EVENT'], ...rows]));
    for (const { integration, problem, mend, last_failure: failure } of lines) {
      if (problem !== null) context.err(`warning: ${integration.title}: ${problem}\n`);
      if (mend !== null) context.err(`hint: ${mend}\n`);
      if (failure === null) continue;
      const when = age(new Date(failure.at), now);
      context.err(`warning: ${integration.title}: a hook failed ${when}: ${showPath(failure.reason)}\n`);
    }
    return EXIT.done;
  },
});
