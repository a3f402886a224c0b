/** agt hook and agt hooks: what agents call, and how it comes into their settings. */
import { AgtError, usageError } from '../../errors.ts';
import { logKilled } from '../../integrations/hooks-log.ts';
import {
  findHooks,
  grantTrust,
  installHooks,
  revokeTrust,
  uninstallHooks,
} from '../../integrations/install/install.ts';
import type { HooksFile } from '../../integrations/install/installed.ts';
import type { Integration } from '../../integrations/integration.ts';
import { findIntegration, INTEGRATIONS } from '../../integrations/tools.ts';
import { overlayOption } from '../../running/namespace.ts';
import { didYouMean } from '../../similar.ts';
import { askYesOrNo } from '../ask.ts';
import { type Arguments, defineCommand, option } from '../command-line/command.ts';
import { reportEach } from '../command-line/report.ts';
import type { Context } from '../context.ts';
import { hooksProgram, requireStateDirectory } from '../front/write-front.ts';
import { answerHook } from '../hooks/answer.ts';
import { type HookStatus, hooksFile, isInstalled, mcpFile, mcpStatus, statusOf } from '../hooks/status.ts';
import { age, errorJson, lines, showPath, table, verb } from '../output/format.ts';

const NAMES = INTEGRATIONS.map(({ name }) => name);

const tools = option.many(`agents: ${NAMES.join(', ')}`);
const project = option.flag('use the settings of the project here, not your own');

const INSTALL_OPTIONS = {
  all: option.flag('every agent that is installed'),
  project,
  worktrees: option.flag('the worktrees that the agent makes become sessions (claude-code)'),
  mcp: option.flag('offer agt mcp to the agent as well, if agt knows its settings for that'),
  trust: {
    type: 'boolean',
    describe: 'codex: trust the hooks without asking (--no-trust: leave that to /hooks of Codex)',
  },
  ...option.shared('dry-run', 'json'),
} as const;

export const hooksInstall = defineCommand({
  usage: 'hooks install [tools..]',
  summary: 'let an agent record every step with agt, wherever you start it',
  description:
    'Add hooks that call agt hook to the settings of an agent. From then on agt makes a snapshot before each prompt, ' +
    'before a tool call if something has changed since the last one, after each that changes something, and at the end ' +
    'of each turn: in a session of agt there, elsewhere as agt snapshot does. agt edits the text of the settings: comments and order stay, and its hooks come last. It ' +
    'remembers the file as it was, so agt hooks uninstall brings back the very bytes. With --all, skip agents that are ' +
    'not installed, and name them. With --mcp, the agent can look at its own steps, and propose a restore (agt mcp). Codex runs only hooks that you trust: agt asks, and stores your answer as Codex does.',
  positionals: { tools },
  options: INSTALL_OPTIONS,
  examples: [
    ['agt hooks install claude-code', 'record what Claude Code does'],
    ['agt hooks install --all --dry-run', 'show which settings would change'],
  ],
  run: async (args, context) => {
    const integrations = chosenTools(args.tools, args.all);
    if (args.worktrees && integrations.every(({ worktrees }) => worktrees === undefined))
      throw usageError('--worktrees is for claude-code', 'leave it out for other agents');
    if (args.mcp && integrations.every(({ mcp }) => mcp === undefined))
      throw usageError(`agt adds no server to ${integrations[0]?.title}`, 'leave out --mcp');
    const report = await reportEach(
      integrations,
      ({ name: tool }) => ({ tool, file: null, trusted: null }),
      (integration) => install(context, integration, args),
    );
    const isAny = args.project || integrations.some((integration) => isInstalled(integration, context));
    return isAny || !args.all ? report : { ...report, notes: NONE_INSTALLED };
  },
});

const NONE_INSTALLED =
  'note: none of these agents is installed for you; start one once, then run agt hooks install --all again\n';

async function install(
  context: Context,
  integration: Integration,
  { trust, dryRun, ...args }: Arguments<typeof INSTALL_OPTIONS>,
) {
  const { name: tool, title, note, isByDocumentation } = integration;
  if (!args.project && !isInstalled(integration, context)) {
    const json = { tool, outcome: 'agent-not-found', file: null, trusted: null };
    if (args.all) return { json, text: `${title}: not found\n` };
    const reason = `there is no "${integration.program}" on PATH, and it has no settings yet`;
    const hint = `install it and start it once, or add hooks to a project: agt hooks install ${tool} --project`;
    const missing = new AgtError(`${title} is not installed: ${reason}`, { hints: [hint] });
    return { json, errors: [missing] };
  }
  const file = await hooksFile(context, integration, args);
  const program = hooksProgram(context, integration);
  const done = await installHooks(requireStateDirectory(context), file, program, dryRun);
  const outcome = dryRun && done !== 'unchanged' ? (`would-be-${done}` as const) : done;
  const trusted = dryRun ? undefined : await letTrust(context, integration, file, trust);
  const isOfOther = (await mcpStatus(context, integration, args.project))?.problem;
  const offered =
    args.mcp || isOfOther ? await offerMcp(context, integration, args.project, dryRun) : undefined;
  const unseen = isByDocumentation && `agt knows the hooks of ${title} from its documentation alone`;
  const remarks = outcome === 'installed' ? [note, unseen] : [];
  const untrusted =
    `hint: ${title} runs them once you trust them: review them in /hooks of ${title}, ` +
    `or run agt hooks install ${tool} --trust`;
  return {
    json: { tool, outcome, file: file.path, trusted: trusted ?? null, ...(offered && { mcp: offered }) },
    text: lines([
      `${title}: ${SENTENCES[outcome]} ${showPath(file.path)}`,
      offered && `${title}: agt mcp ${offered.outcome.replaceAll('-', ' ')} in ${showPath(offered.file)}`,
    ]),
    notes: lines([...remarks.map((remark) => remark && `note: ${remark}`), trusted === false && untrusted]),
  };
}

/** Comes last, and goes first: the file may be that of the hooks, or of the trust. */
async function offerMcp(context: Context, integration: Integration, project: boolean, dryRun: boolean) {
  const file = await mcpFile(context, integration, project);
  if (file === undefined) return undefined;
  const program = { command: '', prepare: () => false };
  const done = await installHooks(requireStateDirectory(context), file, program, dryRun);
  return { outcome: dryRun && done !== 'unchanged' ? `would-be-${done}` : done, file: file.path };
}

const SENTENCES = {
  installed: 'hooks installed in',
  updated: 'hooks updated in',
  unchanged: 'hooks are installed already in',
  'would-be-installed': 'would install hooks in',
  'would-be-updated': 'would update the hooks in',
} as const;

/** Undefined for an agent that runs every hook. */
async function letTrust(context: Context, { trust, title }: Integration, file: HooksFile, wanted?: boolean) {
  if (trust === undefined) return undefined;
  const { env } = context;
  if (wanted === false || !file.isUsers) return false;
  // The settings of an agent may be there without its program, which then cannot be asked.
  const isTrusted = await trust.isTrusted(env, file.path).catch((error: unknown) => {
    if (wanted === true) throw error;
  });
  if (isTrusted !== false) return isTrusted === true;
  if (wanted !== true && !(await askYesOrNo(context, `${title} runs only hooks that you trust. Trust them?`)))
    return false;
  await grantTrust({ stateDir: requireStateDirectory(context), env, trust }, file);
  return true;
}

export const hooksUninstall = defineCommand({
  usage: 'hooks uninstall [tools..]',
  summary: 'remove the hooks that agt hooks install has added',
  description:
    'Bring back the settings of an agent as they were, byte for byte, if nobody has changed them since agt hooks ' +
    'install. Otherwise remove only the hooks of agt. Snapshots stay.',
  positionals: { tools },
  options: { all: option.flag('every agent'), project, ...option.shared('dry-run', 'json') },
  examples: [['agt hooks uninstall --all', 'remove the hooks from every agent']],
  run: async (args, context) => {
    const fileOf = (integration: Integration) => hooksFile(context, integration, args);
    const report = await reportEach(
      chosenTools(args.tools, args.all),
      async (integration) => ({ tool: integration.name, file: (await fileOf(integration)).path }),
      async (integration) => {
        const file = await fileOf(integration);
        const stateDir = requireStateDirectory(context);
        const mcp = await mcpFile(context, integration, args.project);
        const isOffered = mcp && (await uninstallHooks(stateDir, mcp, args.dryRun)) === 'uninstalled';
        if (!args.dryRun) await takeBackTrust(context, integration, file);
        const done = await uninstallHooks(stateDir, file, args.dryRun);
        const outcome = args.dryRun ? `would-be-${done}` : done;
        const removed = args.dryRun ? 'would remove the hooks from' : 'hooks removed from';
        const what = done === 'not-installed' ? 'no hooks in' : removed;
        return {
          json: { tool: integration.name, file: file.path, outcome },
          text: lines([
            !(args.all && done === 'not-installed') && `${integration.title}: ${what} ${showPath(file.path)}`,
            isOffered &&
              `${integration.title}: ${verb(args.dryRun, 'removed', 'remove')} agt mcp from ${showPath(mcp.path)}`,
          ]),
        };
      },
    );
    const isNone = report.text === '' && report.errors.length === 0;
    return isNone ? { ...report, text: 'no hooks to remove\n' } : report;
  },
});

/** An agent that is gone cannot be asked, and hooks that are gone need no trust. */
async function takeBackTrust(context: Context, { trust, title }: Integration, file: HooksFile) {
  if (trust === undefined || !file.isUsers || (await findHooks(file)) === undefined) return;
  try {
    await revokeTrust({ stateDir: requireStateDirectory(context), env: context.env, trust }, file);
  } catch (error) {
    context.err(`warning: ${title} still names the hooks as trusted: ${errorJson(error).error}\n`);
  }
}

export const hooksStatus = defineCommand({
  usage: 'hooks status [tools..]',
  summary: 'show which agents have hooks of agt, and when the last event came',
  description:
    'Show for each agent whether the hooks are installed, the last event that came, and the last failure. Hooks that ' +
    'call another agt, or one that is gone, or lack an event, are outdated: agt hooks install mends them. Of an agent that calls agt hook without installed hooks, ' +
    'agt writes no last event down.',
  positionals: { tools },
  options: { project, ...option.shared('json') },
  examples: [['agt hooks status', 'show all agents']],
  run: async (args, context) => {
    const integrations = chosenTools(args.tools, !args.tools?.length);
    logKilled(context.env);
    const found = await Array.fromAsync(integrations, (one) => statusOf(context, one, args.project));
    const now = context.now();
    const rows = found.map(({ integration, state, last_event: last }) => [
      integration.name,
      `${state.replaceAll('-', ' ')}${integration.isByDocumentation && state !== 'agent-not-found' ? ', untested: made from its documentation' : ''}`,
      last === null ? '-' : `${age(new Date(last.at), now)}${last.event === '' ? '' : ` (${last.event})`}`,
    ]);
    const isInProject = found.some(({ state }) => state === 'in-project');
    const ofProject = isInProject ? 'Hooks of this project alone: agt hooks status --project\n' : '';
    return {
      json: found.map(({ integration, ...status }) => ({ tool: integration.name, ...status })),
      text: `${table([['AGENT', 'HOOKS', 'LAST EVENT'], ...rows])}${ofProject}${adviceOfOverlay(context, found)}`,
      notes: found.map((status) => warningsOf(status, now)).join(''),
    };
  },
});

/** Hooks see what an agent does in a checkout; there is a way to keep it out. */
function adviceOfOverlay({ cwd }: Context, hooks: readonly HookStatus[]): string {
  const option = hooks.some(({ state }) => state === 'installed') && overlayOption(cwd);
  const way = `agt run --new ${option} -- AGENT`;
  return lines([option && `note: an agent that must not change your checkout can work on a copy: ${way}`]);
}

function warningsOf(status: HookStatus, now: Date): string {
  const { integration, problem, mend, mcp, last_failure: failure } = status;
  const of = (warning: string) => `warning: ${integration.title}: ${warning}`;
  return lines([
    problem !== null && of(problem),
    mend !== null && `hint: ${mend}`,
    ...(mcp?.problem ? [of(mcp.problem), `hint: ${mcp.mend}`] : []),
    failure !== null && of(`a hook failed ${age(new Date(failure.at), now)}: ${showPath(failure.reason)}`),
  ]);
}

/** @throws AgtError for an unknown name, or if there is none. */
function chosenTools(given: readonly string[] = [], all = false): readonly Integration[] {
  if (all && given.length > 0)
    throw usageError('--all stands for every agent', 'leave out the names, or --all');
  if (all) return INTEGRATIONS;
  if (given.length === 0) throw usageError('no agent given', `give one of ${NAMES.join(', ')}, or --all`);
  return [...new Set(given)].map((name) => {
    const lower = name.toLowerCase();
    const known = findIntegration(lower) ?? INTEGRATIONS.find(({ program }) => program === lower);
    if (known !== undefined) return known;
    throw usageError(
      `agt knows no agent "${name}"`,
      ...didYouMean(name, NAMES),
      `agents: ${NAMES.join(', ')}`,
    );
  });
}

export const hook = defineCommand({
  usage: 'hook <tool>',
  summary: 'record an event of an agent; the settings of the agent call this',
  description:
    'Read an event of an agent, as JSON, from standard input, and record it in the session that the agent works in: a ' +
    'snapshot for each prompt, before a tool call if something has changed, after each that changed something or ' +
    'failed, and at the end of each turn. ' +
    'agt hooks install writes the line that calls this into the settings of the agent. The prompts agt undo, agt redo, ' +
    'agt snapshots, agt restore, agt status, agt list, agt accept, agt reject and agt help are answered without the model. Variables that begin with AGT_ or GIT_ ' +
    'count for nothing. Whatever fails, the exit code is 0 and the agent goes on; agt status shows the reason. ' +
    'agt.hooks=false switches it off.',
  positionals: { tool: option.value('name of the agent, such as claude-code') },
  examples: [['agt hook claude-code', 'as a command of a hook in the settings of Claude Code']],
  run: ({ tool = '' }) => answerHook([tool]),
});
