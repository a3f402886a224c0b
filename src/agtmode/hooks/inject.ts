/** Tells an agent that `agt session run` starts of the session, and lets it call agt if its settings do not do that. */
import { join } from 'node:path';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { readIfThere } from '../../disk/read-file.ts';
import { findHooks } from '../../integrations/install/install.ts';
import type { Injection, Integration } from '../../integrations/integration.ts';
import { agentOf } from '../../integrations/tools.ts';
import { injectedDirectory } from '../../layout.ts';
import type { CommandLine } from '../../running/command.ts';
import type { Namespace } from '../../workspace/namespace.ts';
import type { Context } from '../context.ts';
import { hooksProgram } from '../front/write-front.ts';
import { hooksFile } from './status.ts';

type Command = Pick<CommandLine, 'words' | 'env'>;

export async function injectHooks(
  context: Context,
  profile: string | undefined,
  command: Command,
  namespace?: Namespace,
): Promise<Command> {
  const integration = agentOf(profile, command.words);
  if (integration === undefined) return command;
  const { agtDir, ...repository } = await context.repository();
  const commonDir = namespace?.commonDir ?? repository.commonDir;
  const directory = namespace?.bin ?? injectedDirectory(agtDir);
  const place = integration.injectPlace?.({ path: command.env['PATH'] ?? '', commonDir });
  // The profile may have moved its settings.
  const there = { ...context, env: command.env };
  return withInjection(withInjection(command, place), await hooksFor(there, integration, directory));
}

/** Undefined if its settings have the hooks already. */
async function hooksFor(context: Context, { injectHooks, ...integration }: Integration, directory: string) {
  if (injectHooks === undefined) return undefined;
  const file = await hooksFile(context, integration, { project: false });
  const installed = await findHooks(file).catch(() => 'unreadable');
  // A plugin of agt that is switched on has them, too.
  if (installed !== undefined || /"agt@[^"]+"\s*:\s*true/.test(readIfThere(file.path))) return undefined;
  const { command, prepare } = hooksProgram(context, integration, directory);
  prepare();
  const text = await file.settings.add(undefined, command);
  const write = (name: string) => {
    const path = join(directory, name);
    if (readIfThere(path) !== text) writeFileAtomic(path, text, { cache: true });
    return path;
  };
  return injectHooks({ text, write });
}

/** Variables that are set already stay as they are, and then nothing is injected. */
function withInjection({ words, env }: Command, injection: Injection | undefined): Command {
  if (injection === undefined) return { words, env };
  if (Object.keys(injection.variables).some((name) => env[name] !== undefined)) return { words, env };
  const [program = '', ...rest] = words;
  return { words: [program, ...injection.words, ...rest], env: { ...env, ...injection.variables } };
}
