/** The state of the hooks of an agent: what `agt hooks status` shows, and `agt doctor` names if they are outdated. */
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { parseBoolean } from '../../config/values.ts';
import { readIfThere, statOrUndefined } from '../../disk/read-file.ts';
import { stateDirectory } from '../../disk/state-home.ts';
import { readFailures, readLastEvent } from '../../integrations/hooks-log.ts';
import { findHooks, installHooks, switchedOffBy } from '../../integrations/install/install.ts';
import { type HooksFile, readInstalled } from '../../integrations/install/installed.ts';
import { hookCommand } from '../../integrations/install/settings.ts';
import type { Integration } from '../../integrations/integration.ts';
import { INTEGRATIONS } from '../../integrations/tools.ts';
import type { Finding } from '../../maintenance/doctor/finding.ts';
import type { Context } from '../context.ts';
import { hooksProgram, stableCommand } from '../front/write-front.ts';
import { errorJson } from '../output/format.ts';

export type HookStatus = Awaited<ReturnType<typeof statusOf>>;

export async function statusOf(context: Context, integration: Integration, project: boolean) {
  const { name } = integration;
  const plain = await hooksFile(context, integration, { project });
  const worktrees = integration.worktrees !== undefined && hasWorktreeHooks(plain.path);
  const file = worktrees ? await hooksFile(context, integration, { project, worktrees }) : plain;
  const last = readLastEvent(context.env, name);
  const isRecent = (at: string) => last === undefined || Date.parse(at) >= Date.parse(last.at);
  const failure = readFailures(context.env).findLast(({ tool }) => tool === name);
  const about = {
    integration,
    file: file.path,
    known_by: integration.isByDocumentation ? 'documentation' : 'test',
    last_event: last ?? null,
    last_failure: failure !== undefined && isRecent(failure.at) ? failure : null,
    mcp: (await mcpStatus(context, integration, project)) ?? null,
  };
  try {
    const command = (await findHooks(file)) ?? null;
    const inProject =
      command === null &&
      !project &&
      (await findHooks(await hooksFile(context, integration, { project: true })).catch(() => undefined));
    const isFound = project || inProject || isInstalled(integration, context);
    const found =
      command === null
        ? { state: inProject ? 'in-project' : isFound ? 'not-installed' : 'agent-not-found' }
        : await stateOf(context, integration, file, command);
    return { ...about, command, problem: null, mend: null, ...found };
  } catch (error) {
    return { ...about, state: 'unknown', command: null, problem: errorJson(error).error, mend: null };
  }
}

async function stateOf(context: Context, integration: Integration, file: HooksFile, command: string) {
  const { name, title, trust } = integration;
  const options = [file.isUsers ? '' : ' --project', hasWorktreeHooks(file.path) ? ' --worktrees' : ''];
  const mend = `agt hooks install ${name}${options.join('')}`;
  const outdated = await outdatedBecause(context, integration, file, command);
  if (outdated !== undefined) return { state: 'outdated', problem: outdated, mend };
  const setting = (await context.settingValues()).find(
    ({ name: key, value }) => ['agt.hooks', 'agt.enabled'].includes(key) && parseBoolean(value) === false,
  );
  if (setting !== undefined)
    return { state: 'switched-off', problem: `${setting.name} is false (${setting.origin})` };
  const off = await switchedOffBy(file);
  if (off !== undefined)
    return { state: 'switched-off', problem: `${off} in ${file.path} switches the hooks off` };
  if (trust === undefined || !file.isUsers || (await trust.isTrusted(context.env, file.path)))
    return { state: 'installed' };
  const problem = `${title} runs only hooks that you trust`;
  return { state: 'untrusted', problem, mend: `agt hooks install ${name} --trust` };
}

/** Undefined if the hooks are as `agt hooks install` would make them. */
async function outdatedBecause(context: Context, integration: Integration, file: HooksFile, command: string) {
  const program = /^'((?:[^']|'\\'')+)'/.exec(command)?.[1]?.replaceAll("'\\''", "'") ?? command;
  if (!existsSync(program)) return `${program} is gone`;
  const present = hooksProgram(context, integration);
  if (command === present.command) {
    if (!present.isCurrent()) return `${program} calls another agt`;
    const stateDir = stateDirectory(context.env);
    const outcome = stateDir === undefined ? 'unchanged' : await installHooks(stateDir, file, present, true);
    return outcome === 'unchanged' ? undefined : 'this agt has other hooks';
  }
  if (command === hookCommand(stableCommand(context), integration))
    return `the hooks are those of an earlier agt, and slower`;
  return `the hooks call another agt, ${program}`;
}

function hasWorktreeHooks(path: string): boolean {
  return readIfThere(path).includes('"WorktreeCreate"');
}

/** A warning for each agent of the user whose hooks are outdated, or perhaps gone. */
export async function findOutdatedHooks(context: Context): Promise<Finding[]> {
  const all = await Array.fromAsync(INTEGRATIONS, (integration) => statusOf(context, integration, false));
  const outdated = all.filter(({ state }) => state === 'outdated');
  return [...outdated, ...(await lostSight(context, all)), ...all.flatMap(({ mcp }) => mcp ?? [])]
    .filter(({ problem }) => problem !== null)
    .map(({ file, problem, mend }) => {
      return { level: 'warning', about: file, problem: problem ?? '', mend: mend ?? '' };
    });
}

/** The agents that agt has given hooks, where it cannot tell any more whether they have them. */
async function lostSight(context: Context, all: readonly HookStatus[]) {
  const stateDir = stateDirectory(context.env);
  const unknown = all.filter(({ state }) => state === 'unknown');
  const found = unknown.map(async ({ integration, file, problem: reason }) => {
    const own = await hooksFile(context, integration, { project: false });
    if (stateDir === undefined || readInstalled(stateDir, own) === undefined) return [];
    const problem = `agt cannot tell whether the hooks of ${integration.title} still stand: ${reason}`;
    return [{ file, problem, mend: `mend that, then see: agt hooks status ${integration.name}` }];
  });
  return (await Promise.all(found)).flat();
}

/** `agt hooks` of agents that are not here would make their directories. */
export function isInstalled({ program, home }: Integration, { env }: Context): boolean {
  const onPath = (env['PATH'] ?? '').split(delimiter).some((dir) => existsSync(join(dir || '.', program)));
  return onPath || existsSync(home(env));
}

export async function hooksFile(
  context: Context,
  integration: Integration,
  { project, worktrees = false }: { readonly project: boolean; readonly worktrees?: boolean },
): Promise<HooksFile> {
  const settings = integration.settings(integration.name, { worktrees });
  const path = project
    ? await inProject(context, integration.projectFile)
    : join(integration.home(context.env), integration.file);
  return { tool: integration.name, path, isUsers: !project, settings };
}

/** The file that names `agt mcp`; undefined for an agent without MCP. */
export async function mcpFile(context: Context, { name, mcp, home }: Integration, project: boolean) {
  if (mcp === undefined) return undefined;
  const { file } = mcp;
  const ofUser = typeof file === 'string' ? join(home(context.env), file) : file(context.env);
  const path = project ? await inProject(context, mcp.projectFile) : ofUser;
  const settings = mcp.settings([...stableCommand(context), 'mcp']);
  return { tool: `${name}-mcp`, path, isUsers: !project, settings };
}

/** The program in an entry, in JSON or TOML. */
const STARTED = /"?command"?\s*[:=]\s*\[?\s*("(?:[^"\\]|\\.)*")/;

/** The entry of `agt mcp`; undefined if there is none. `problem`: it does not start this agt. */
export async function mcpStatus(context: Context, integration: Integration, project: boolean) {
  const file = await mcpFile(context, integration, project);
  // A file that agt cannot read is the subject of agt hooks install.
  const entry = file && (await findHooks(file).catch(() => undefined));
  if (file === undefined || entry === undefined) return undefined;
  const program: string = JSON.parse(STARTED.exec(entry)?.[1] ?? '""');
  const problem = isAbsolute(program) ? otherAgt(program, stableCommand(context)[0] ?? '') : undefined;
  const mend = `agt hooks install ${integration.name} --mcp${project ? ' --project' : ''}`;
  return { file: file.path, problem: problem ?? null, mend: problem === undefined ? null : mend };
}

function otherAgt(program: string, own: string): string | undefined {
  if (!existsSync(program)) return `agt mcp: ${program} is gone`;
  const [a, b] = [program, own].map((path) => statOrUndefined(path));
  return a?.ino === b?.ino && a?.dev === b?.dev ? undefined : `agt mcp: ${program} is another agt`;
}

async function inProject(context: Context, file: string): Promise<string> {
  return join((await context.repositoryIfAny())?.worktree ?? context.cwd, file);
}
