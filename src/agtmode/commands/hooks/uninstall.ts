import { EXIT, exitCodeFor, formatError, worstExitCode } from '../../../errors.ts';
import { findHooks, type HooksFile, uninstallHooks } from '../../../integrations/install/install.ts';
import { revokeTrust } from '../../../integrations/install/trust.ts';
import type { Integration } from '../../../integrations/integration.ts';
import { DRY_RUN_OPTION, defineCommand, flag, JSON_OPTION } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import {
  chosenTools,
  hooksFile,
  PROJECT_OPTION,
  requireStateDirectory,
  TOOLS_ARGUMENT,
} from '../../hooks/settings-files.ts';
import { errorJson, json, showPath } from '../../output/format.ts';

export const hooksUninstall = defineCommand({
  usage: 'hooks uninstall [tools..]',
  group: 'setup',
  summary: 'remove the hooks that agt hooks install has added',
  description:
    'Bring back the settings of an agent as they were, byte for byte, if nobody has changed them since agt hooks ' +
    'install. Otherwise remove only the hooks of agt. Snapshots stay.',
  positionals: { tools: TOOLS_ARGUMENT },
  options: {
    all: flag('every agent'),
    project: PROJECT_OPTION,
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [['agt hooks uninstall --all', 'remove the hooks from every agent']],
  run: async (args, context) => {
    const results: object[] = [];
    const exitCodes: number[] = [];
    for (const integration of chosenTools(args)) {
      const { name: tool, title } = integration;
      const options = { project: args.project, worktrees: false };
      const file = await hooksFile(context, integration, options);
      const about = { tool, file: file.path };
      try {
        const stateDir = requireStateDirectory(context);
        const isPlanned = args['dry-run'];
        if (!isPlanned) await takeBackTrust(context, integration, file);
        const outcome = await uninstallHooks(stateDir, file, isPlanned);
        results.push({ ...about, outcome: args['dry-run'] ? `would-be-${outcome}` : outcome });
        exitCodes.push(EXIT.done);
        if (args.json) continue;
        if (outcome === 'not-installed') context.out(`${title}: no hooks in ${showPath(file.path)}\n`);
        else if (args['dry-run'])
          context.out(`${title}: would remove the hooks from ${showPath(file.path)}\n`);
        else context.out(`${title}: hooks removed from ${showPath(file.path)}\n`);
      } catch (error) {
        results.push({ ...about, outcome: 'failed', ...errorJson(error) });
        exitCodes.push(exitCodeFor(error));
        context.err(formatError(error, false));
      }
    }
    if (args.json) context.out(json(results));
    return worstExitCode(exitCodes);
  },
});

/** An agent that is gone cannot be asked, and hooks that are gone need no trust. */
async function takeBackTrust(
  context: Context,
  { trust, title }: Integration,
  file: HooksFile,
): Promise<void> {
  if (trust === undefined || !file.isUsers || (await findHooks(file)) === undefined) return;
  try {
    await revokeTrust({ stateDir: requireStateDirectory(context), env: context.env, trust }, file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    context.err(`warning: ${title} still names the hooks as trusted: ${reason}\n`);
  }
}
