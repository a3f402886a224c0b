/** The settings files of agents that `agt hooks` works on. */

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { statOrUndefined } from '../../disk/read-file.ts';
import { AgtError, usageError } from '../../errors.ts';
import { ownFiles } from '../../git/run/find-git.ts';
import type { HooksFile } from '../../integrations/install/install.ts';
import type { Integration } from '../../integrations/integration.ts';
import { stateDirectory } from '../../integrations/state-directory.ts';
import { findIntegration, INTEGRATIONS } from '../../integrations/tools.ts';
import { ownCommand, packed } from '../../process/invocation.ts';
import { flag, many } from '../command-line/command.ts';
import { didYouMean } from '../command-line/similar.ts';
import type { Context } from '../context.ts';

export const TOOLS_ARGUMENT = many(`agents: ${INTEGRATIONS.map(({ name }) => name).join(', ')}`);

export const PROJECT_OPTION = flag('use the settings of the project here, not your own');

/** @throws AgtError for an unknown name, or if there is none. */
export function chosenTools(tools: readonly string[] = [], all = false): readonly Integration[] {
  if (all && tools.length > 0)
    throw usageError('--all stands for every agent', 'leave out the names, or --all');
  if (all) return INTEGRATIONS;
  const names = INTEGRATIONS.map(({ name }) => name);
  if (tools.length === 0) throw usageError('no agent given', `give one of ${names.join(', ')}, or --all`);
  return [...new Set(tools)].map((name) => {
    const known = findIntegration(name) ?? INTEGRATIONS.find(({ program }) => program === name);
    if (known !== undefined) return known;
    throw usageError(
      `agt knows no agent "${name}"`,
      ...didYouMean(name, names),
      `agents: ${names.join(', ')}`,
    );
  });
}

/** `agt hooks` of agents that are not here would make their directories. */
export function isInstalled({ program, home }: Integration, { env }: Context): boolean {
  const onPath = (env['PATH'] ?? '').split(delimiter).some((dir) => existsSync(join(dir || '.', program)));
  return onPath || existsSync(home(env));
}

export function requireStateDirectory({ env }: Context): string {
  const stateDir = stateDirectory(env);
  if (stateDir !== undefined) return stateDir;
  throw new AgtError('there is no HOME, so agt does not know where your settings are', {
    hints: ['set HOME, and run the command again'],
  });
}

export async function hooksFile(
  context: Context,
  integration: Integration,
  { project, worktrees = false }: { readonly project: boolean; readonly worktrees?: boolean },
): Promise<HooksFile> {
  const settings = integration.settings({ worktrees });
  const path = project
    ? join((await context.repositoryIfAny())?.worktree ?? context.cwd, integration.projectFile)
    : join(integration.home(context.env), integration.file);
  return { tool: integration.name, path, isUsers: !project, settings };
}

/**
 * The agt on PATH, if that is this one: upgrades replace what it leads to. Otherwise the executable itself. With a Node
 * of the host's, that Node too: the first one on PATH may be older.
 */
export function stableCommand({ env }: Context): string[] {
  if (!packed) return ownCommand();
  const own = ownFiles().map(statOrUndefined);
  const onPath = (env['PATH'] ?? '')
    .split(delimiter)
    .filter((dir) => dir.startsWith('/'))
    .map((dir) => join(dir, 'agt'))
    .find((path) => {
      const stat = statOrUndefined(path);
      return stat !== undefined && own.some((file) => file?.dev === stat.dev && file.ino === stat.ino);
    });
  return onPath === undefined ? ownCommand() : [onPath];
}
