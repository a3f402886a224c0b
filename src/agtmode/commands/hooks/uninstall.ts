import { findHooks, type HooksFile, uninstallHooks } from '../../../integrations/install/install.ts';
import { revokeTrust } from '../../../integrations/install/trust.ts';
import type { Integration } from '../../../integrations/integration.ts';
import { DRY_RUN_JSON, defineCommand, flag, reportEach } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import {
  chosenTools,
  hooksFile,
  PROJECT_OPTION,
  requireStateDirectory,
  TOOLS_ARGUMENT,
} from '../../hooks/settings-files.ts';
import { errorJson, showPath } from '../../output/format.ts';

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
    ...DRY_RUN_JSON,
  },
  examples: [['agt hooks uninstall --all', 'remove the hooks from every agent']],
  run: async (args, context) => {
    const isDryRun = args['dry-run'];
    const { project } = args;
    const fileOf = (integration: Integration) => hooksFile(context, integration, { project });
    return reportEach(
      chosenTools(args.tools, args.all),
      async (integration) => ({ tool: integration.name, file: (await fileOf(integration)).path }),
      async (integration) => {
        const file = await fileOf(integration);
        const stateDir = requireStateDirectory(context);
        if (!isDryRun) await takeBackTrust(context, integration, file);
        const outcome = await uninstallHooks(stateDir, file, isDryRun);
        const done = isDryRun ? 'would remove the hooks from' : 'hooks removed from';
        const what = outcome === 'not-installed' ? 'no hooks in' : done;
        return {
          json: {
            tool: integration.name,
            file: file.path,
            outcome: isDryRun ? `would-be-${outcome}` : outcome,
          },
          text: `${integration.title}: ${what} ${showPath(file.path)}\n`,
        };
      },
    );
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
    context.err(`warning: ${title} still names the hooks as trusted: ${errorJson(error).error}\n`);
  }
}
