import { existsSync } from 'node:fs';
import { EXIT } from '../../../errors.ts';
import { readFailures, readLastEvent } from '../../../integrations/hooks-log.ts';
import { findHooks, type HooksFile, switchedOffBy } from '../../../integrations/install/install.ts';
import { hookCommand } from '../../../integrations/install/settings.ts';
import type { Integration } from '../../../integrations/integration.ts';
import { INTEGRATIONS } from '../../../integrations/tools.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { hooksCommand, isHooksFrontCurrent } from '../../front/write-front.ts';
import {
  chosenTools,
  hooksFile,
  isInstalled,
  PROJECT_OPTION,
  stableCommand,
  TOOLS_ARGUMENT,
} from '../../hooks-files.ts';
import { age, json, showPath, table } from '../../output/format.ts';

export const hooksStatus = defineCommand({
  usage: 'hooks status [tools..]',
  group: 'setup',
  summary: 'show which agents have hooks of agt, and when the last event came',
  description:
    'Show for each agent whether the hooks are installed, the last event that came, and the last failure. Hooks that ' +
    'call another agt, or one that is gone, are outdated: agt hooks install mends them.',
  positionals: { tools: TOOLS_ARGUMENT },
  options: { project: PROJECT_OPTION, json: JSON_OPTION },
  examples: [['agt hooks status', 'show all agents']],
  run: async (args, context) => {
    const integrations =
      (args.tools ?? []).length === 0 ? INTEGRATIONS : chosenTools({ tools: args.tools, all: false });
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
    for (const { integration, problem, last_failure: failure } of lines) {
      if (problem !== null) context.err(`warning: ${integration.title}: ${problem}\n`);
      if (failure === null) continue;
      const when = age(new Date(failure.at), now);
      context.err(`warning: ${integration.title}: a hook failed ${when}: ${showPath(failure.reason)}\n`);
    }
    return EXIT.done;
  },
});

interface HookStatus {
  readonly integration: Integration;
  readonly state:
    | 'installed'
    | 'switched-off'
    | 'untrusted'
    | 'outdated'
    | 'not-installed'
    | 'agent-not-found'
    | 'unknown';
  readonly file: string;
  readonly command: string | null;
  readonly problem: string | null;
  readonly last_event: { readonly at: string; readonly event: string; readonly cwd: string } | null;
  readonly last_failure: { readonly at: string; readonly event: string; readonly reason: string } | null;
}

async function statusOf(context: Context, integration: Integration, project: boolean): Promise<HookStatus> {
  const { name } = integration;
  const file = await hooksFile(context, integration, { project, worktrees: false });
  const last = readLastEvent(context.env, name);
  const failure = readFailures(context.env).findLast(({ tool }) => tool === name);
  const about = {
    integration,
    file: file.path,
    last_event: last ?? null,
    last_failure: failure === undefined || isOlder(failure.at, last?.at) ? null : failure,
  };
  try {
    const command = (await findHooks(file)) ?? null;
    if (command !== null)
      return { ...about, command, ...(await stateOf(context, integration, file, command)) };
    const isFound = project || isInstalled(integration, context);
    return { ...about, state: isFound ? 'not-installed' : 'agent-not-found', command, problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { ...about, state: 'unknown', command: null, problem };
  }
}

async function stateOf(
  context: Context,
  integration: Integration,
  file: HooksFile,
  command: string,
): Promise<Pick<HookStatus, 'state' | 'problem'>> {
  const { name, title, trust } = integration;
  const reason = outdatedBecause(context, integration, command);
  if (reason !== undefined)
    return { state: 'outdated', problem: `${reason}; mend it: agt hooks install ${name}` };
  const off = await switchedOffBy(file);
  if (off !== undefined)
    return { state: 'switched-off', problem: `${off} in ${file.path} switches the hooks off` };
  if (trust === undefined || !file.isUsers || (await trust.isTrusted(context.env, file.path)))
    return { state: 'installed', problem: null };
  const mend = `agt hooks install ${name} --trust`;
  return { state: 'untrusted', problem: `${title} runs only hooks that you trust; trust them: ${mend}` };
}

/** Undefined if the hooks are as `agt hooks install` would make them. */
function outdatedBecause(context: Context, integration: Integration, command: string): string | undefined {
  const program = /^'((?:[^']|'\\'')+)'/.exec(command)?.[1]?.replaceAll("'\\''", "'") ?? command;
  if (!existsSync(program)) return `${program} is gone`;
  if (command === hookCommand(hooksCommand(context, integration), integration))
    return isHooksFrontCurrent(context, integration) ? undefined : `${program} calls another agt`;
  if (command === hookCommand(stableCommand(context), integration))
    return `the hooks are those of an earlier agt, and slower`;
  return `the hooks call another agt, ${program}`;
}

function isOlder(at: string, than: string | undefined): boolean {
  return than !== undefined && Date.parse(at) < Date.parse(than);
}
