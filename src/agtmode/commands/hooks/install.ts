import type { InferredOptionTypes } from 'yargs';
import { AgtError, usageError } from '../../../errors.ts';
import { type HooksFile, installHooks } from '../../../integrations/install/install.ts';
import { hookCommand } from '../../../integrations/install/settings.ts';
import { grantTrust } from '../../../integrations/install/trust.ts';
import type { Integration } from '../../../integrations/integration.ts';
import { askYesOrNo } from '../../ask.ts';
import { DRY_RUN_JSON, defineCommand, flag, reportEach } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { hooksCommand, writeHooksFront } from '../../front/write-front.ts';
import {
  chosenTools,
  hooksFile,
  isInstalled,
  PROJECT_OPTION,
  requireStateDirectory,
  TOOLS_ARGUMENT,
} from '../../hooks/settings-files.ts';
import { showPath } from '../../output/format.ts';

const OPTIONS = {
  all: flag('every agent that is installed'),
  project: PROJECT_OPTION,
  worktrees: flag('the worktrees that the agent makes become sessions (claude-code)'),
  trust: {
    type: 'boolean',
    describe: 'codex: trust the hooks without asking (--no-trust: leave that to /hooks of Codex)',
  },
  ...DRY_RUN_JSON,
} as const;

export const hooksInstall = defineCommand({
  usage: 'hooks install [tools..]',
  group: 'setup',
  summary: 'let an agent record every step with agt, wherever you start it',
  description:
    'Add hooks that call agt hook to the settings of an agent. From then on agt makes a snapshot before each prompt, ' +
    'after each tool call that changes something, and at the end of each turn: in a session of agt there, elsewhere as ' +
    'agt snapshot does. agt edits the text of the settings: comments and order stay, and its hooks come last. It ' +
    'remembers the file as it was, so agt hooks uninstall brings back the very bytes. With --all, skip agents that are ' +
    'not installed, and name them. Codex runs only hooks that you trust: agt asks, and stores your answer as Codex does.',
  positionals: { tools: TOOLS_ARGUMENT },
  options: OPTIONS,
  examples: [
    ['agt hooks install claude-code', 'record what Claude Code does'],
    ['agt hooks install --all --dry-run', 'show which settings would change'],
  ],
  run: async (args, context) => {
    const integrations = chosenTools(args.tools, args.all);
    if (args.worktrees && integrations.every(({ worktrees }) => worktrees === undefined))
      throw usageError('--worktrees is for claude-code', 'leave it out for other agents');
    return reportEach(
      integrations,
      ({ name: tool }) => ({ tool, file: null, trusted: null }),
      (integration) => install(context, integration, args),
    );
  },
});

async function install(
  context: Context,
  integration: Integration,
  { all, project, worktrees, trust, 'dry-run': dryRun }: InferredOptionTypes<typeof OPTIONS>,
) {
  const { name: tool, title, program, note } = integration;
  if (!project && !isInstalled(integration, context)) {
    const json = { tool, outcome: 'agent-not-found', file: null, trusted: null };
    if (all) return { json, text: `${title}: not installed\n` };
    const missing = new AgtError(
      `${title} is not installed: there is no "${program}" on PATH, and it has no settings yet`,
      { hints: [`start it once, or add hooks to a project: agt hooks install ${tool} --project`] },
    );
    return { json, errors: [missing] };
  }
  const file = await hooksFile(context, integration, { project, worktrees });
  const hooks = {
    command: hookCommand(hooksCommand(context, integration), integration),
    prepare: () => writeHooksFront(context, integration),
  };
  const done = await installHooks(requireStateDirectory(context), file, hooks, dryRun);
  const outcome = dryRun && done !== 'unchanged' ? `would-be-${done}` : done;
  const trusted = dryRun ? undefined : await letTrust(context, integration, file, trust);
  const isNew = outcome === 'installed' && note !== undefined;
  const untrusted =
    `hint: ${title} runs them once you trust them: review them in /hooks of ${title}, ` +
    `or run agt hooks install ${tool} --trust\n`;
  return {
    json: { tool, outcome, file: file.path, trusted: trusted ?? null },
    text: `${title}: ${SENTENCES[outcome]} ${showPath(file.path)}\n`,
    notes: `${isNew ? `note: ${note}\n` : ''}${trusted === false ? untrusted : ''}`,
  };
}

/** Undefined for an agent that runs every hook. */
async function letTrust(
  context: Context,
  { trust, title }: Integration,
  file: HooksFile,
  wanted: boolean | undefined,
): Promise<boolean | undefined> {
  if (trust === undefined) return undefined;
  const { env } = context;
  if (wanted === false || !file.isUsers) return false;
  if (await trust.isTrusted(env, file.path)) return true;
  if (wanted !== true && !(await askYesOrNo(context, `${title} runs only hooks that you trust. Trust them?`)))
    return false;
  await grantTrust({ stateDir: requireStateDirectory(context), env, trust }, file);
  return true;
}

const SENTENCES: Readonly<Record<string, string>> = {
  installed: 'hooks installed in',
  updated: 'hooks updated in',
  unchanged: 'hooks are installed already in',
  'would-be-installed': 'would install hooks in',
  'would-be-updated': 'would update the hooks in',
};
