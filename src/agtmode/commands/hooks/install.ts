import { EXIT, exitCodeFor, formatError, usageError, worstExitCode } from '../../../errors.ts';
import { type HooksFile, installHooks } from '../../../integrations/install/install.ts';
import { hookCommand } from '../../../integrations/install/settings.ts';
import { grantTrust } from '../../../integrations/install/trust.ts';
import type { Integration } from '../../../integrations/integration.ts';
import { askYesOrNo } from '../../ask.ts';
import { DRY_RUN_OPTION, defineCommand, flag, JSON_OPTION } from '../../command-line/command.ts';
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
import { errorJson, json, showPath } from '../../output/format.ts';

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
  options: {
    all: flag('every agent that is installed'),
    project: PROJECT_OPTION,
    worktrees: flag('the worktrees that the agent makes become sessions (claude-code)'),
    trust: {
      type: 'boolean',
      describe: 'codex: trust the hooks without asking (--no-trust: leave that to /hooks of Codex)',
    },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt hooks install claude-code', 'record what Claude Code does'],
    ['agt hooks install --all --dry-run', 'show which settings would change'],
  ],
  run: async (args, context) => {
    const integrations = chosenTools(args);
    if (args.worktrees && integrations.every(({ worktrees }) => worktrees === undefined))
      throw usageError('--worktrees is for claude-code', 'leave it out for other agents');
    const results: InstallResult[] = [];
    for (const integration of integrations) {
      const result = await installOne(context, integration, args);
      results.push(result);
      if (!args.json) print(context, result, args.all);
    }
    if (args.json) context.out(json(results.map(resultJson)));
    const failed = (result: InstallResult) =>
      result.error === undefined
        ? result.outcome === 'agent-not-found' && !args.all
          ? EXIT.failed
          : EXIT.done
        : exitCodeFor(result.error);
    return worstExitCode(results.map(failed));
  },
});

interface InstallArguments {
  readonly project: boolean;
  readonly worktrees: boolean;
  readonly trust: boolean | undefined;
  readonly 'dry-run': boolean;
}

interface InstallResult {
  readonly integration: Integration;
  readonly outcome: string;
  readonly file?: string;
  /** Undefined if the agent runs every hook. */
  readonly trusted?: boolean | undefined;
  readonly error?: unknown;
}

/** One agent whose settings agt cannot change does not keep it from the others. */
async function installOne(
  context: Context,
  integration: Integration,
  { project, worktrees, trust, 'dry-run': dryRun }: InstallArguments,
): Promise<InstallResult> {
  if (!project && !isInstalled(integration, context)) return { integration, outcome: 'agent-not-found' };
  try {
    const file = await hooksFile(context, integration, { project, worktrees });
    const program = {
      command: hookCommand(hooksCommand(context, integration), integration),
      prepare: () => writeHooksFront(context, integration),
    };
    const outcome = await installHooks(requireStateDirectory(context), file, program, dryRun);
    const result = { integration, file: file.path };
    if (dryRun) return { ...result, outcome: outcome === 'unchanged' ? outcome : `would-be-${outcome}` };
    return { ...result, outcome, trusted: await letTrust(context, integration, file, trust) };
  } catch (error) {
    return { integration, outcome: 'failed', error };
  }
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

function print(
  context: Context,
  { integration, outcome, file, trusted, error }: InstallResult,
  isAll: boolean,
): void {
  const { title, program } = integration;
  if (error !== undefined) context.err(formatError(error, false));
  else if (file !== undefined) {
    context.out(`${title}: ${SENTENCES[outcome]} ${showPath(file)}\n`);
    const { note } = integration;
    if (outcome === 'installed' && note !== undefined) context.err(`note: ${note}\n`);
    if (trusted === false)
      context.err(
        `hint: ${title} runs them once you trust them: review them in /hooks of ${title}, ` +
          `or run agt hooks install ${integration.name} --trust\n`,
      );
  } else if (isAll) context.out(`${title}: not installed\n`);
  else {
    context.err(
      `error: ${title} is not installed: there is no "${program}" on PATH, and it has no settings yet\n` +
        `hint: start it once, or add hooks to a project: agt hooks install ${integration.name} --project\n`,
    );
  }
}

function resultJson({ integration, outcome, file, trusted, error }: InstallResult) {
  const reason = error === undefined ? undefined : errorJson(error);
  return { tool: integration.name, outcome, file: file ?? null, trusted: trusted ?? null, ...reason };
}
