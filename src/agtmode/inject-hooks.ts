/** Lets an agent that `agt session run` starts call agt, if its settings do not do that already. */
import { join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { readIfThere } from '../disk/lock-owner.ts';
import { findHooks } from '../integrations/install/install.ts';
import { hookCommand } from '../integrations/install/settings.ts';
import { agentOf } from '../integrations/run-profile.ts';
import { injectedDirectory } from '../repository/layout.ts';
import type { Context } from './context.ts';
import { hooksFile, stableCommand } from './hooks-files.ts';

interface Command {
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Variables that are set already stay as they are, and then nothing is injected. */
export async function injectHooks(
  context: Context,
  profile: string | undefined,
  command: Command,
): Promise<Command> {
  const integration = agentOf(profile, command.words);
  if (integration?.inject === undefined) return command;
  const file = await hooksFile(context, integration, { project: false, worktrees: false });
  const isInstalled = await findHooks(file).catch(() => 'unreadable');
  if (isInstalled !== undefined) return command;
  const text = await file.settings.add(undefined, hookCommand(stableCommand(context), integration));
  const directory = injectedDirectory((await context.repository()).agtDir);
  const write = (name: string) => {
    const path = join(directory, name);
    if (readIfThere(path) !== text) writeFileAtomic(path, text, { cache: true });
    return path;
  };
  const { words, variables } = integration.inject({ text, write });
  if (Object.keys(variables).some((name) => command.env[name] !== undefined)) return command;
  const [program = '', ...rest] = command.words;
  return { words: [program, ...words, ...rest], env: { ...command.env, ...variables } };
}
