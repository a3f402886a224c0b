/** The answer to `agt` alone in a terminal: the three next steps that fit the place. */
import { processIsGone } from '../disk/lock-owner.ts';
import { plural } from '../errors.ts';
import { isActive } from '../filter/session-file.ts';
import { whyRefused } from '../folders/refuse.ts';
import { hasStore } from '../folders/store.ts';
import { inDirectory, resolveObject } from '../git/run/git.ts';
import { findHooks } from '../integrations/install/install.ts';
import type { Integration } from '../integrations/integration.ts';
import { INTEGRATIONS } from '../integrations/tools.ts';
import { FIRST_COMMIT } from '../lifecycle/start-point.ts';
import { ownVersion } from '../process/invocation.ts';
import { sessionContaining } from '../session/find-session.ts';
import { listRecords } from '../session/record.ts';
import type { Context } from './context.ts';
import { hooksProgram } from './front/write-front.ts';
import { hooksFile, isInstalled } from './hooks/status.ts';
import { attachedHere, folderHere } from './session-here.ts';

const MOST_STEPS = 3;

type Step = readonly [command: string, purpose: string];

export async function welcome(context: Context): Promise<string> {
  const here = (await stepsHere(context)).filter((step) => step !== false);
  const steps = [...(await hookSteps(context)), ...here].slice(0, MOST_STEPS);
  const width = Math.max(...steps.map(([command]) => command.length)) + 3;
  return [
    `agt ${ownVersion()} gives each coding agent a session of its own, and records each of its steps.\n\n`,
    ...steps.map(([command, purpose]) => `  ${command.padEnd(width)}${purpose}\n`),
    '\nEvery command: agt help\n',
  ].join('');
}

async function hookSteps(context: Context): Promise<Step[]> {
  const present = INTEGRATIONS.filter((integration) => isInstalled(integration, context));
  const states = await Array.fromAsync(present, (one) => stateOfHooks(context, one).catch(() => 'unknown'));
  const titles = (state: string) =>
    present.flatMap(({ title }, n) => (states[n] === state ? title : [])).join(', ');
  const command = 'agt hooks install --all';
  if (states.includes('missing')) return [[command, `each step of ${titles('missing')} becomes a snapshot`]];
  if (states.includes('old')) return [[command, `the hooks of ${titles('old')} are not those of this agt`]];
  return [];
}

async function stateOfHooks(context: Context, integration: Integration) {
  const command = await findHooks(await hooksFile(context, integration, { project: false }));
  if (command === undefined) return 'missing';
  const program = hooksProgram(context, integration);
  return command === program.command && program.isCurrent() ? 'installed' : 'old';
}

async function stepsHere(context: Context): Promise<(Step | false)[]> {
  const { folder, user } = await folderHere(context);
  const access = context.folderAccess();
  const snapshots = hasStore(access, folder) ? ((await (await attachedHere(context))?.history()) ?? []) : [];
  const inFolder: (Step | false)[] = [
    snapshots.length > 0 && ['agt snapshot list', 'the snapshots of this folder'],
    snapshots.length > 1 && ['agt undo', 'go back by one of them'],
  ];
  if (user === undefined) {
    const canRecord = whyRefused(access, folder, user) === undefined;
    return [
      ...inFolder,
      canRecord && ['agt snapshot', 'record this folder, which is in no git repository'],
      ['agt clone URL', 'clone a repository, with room for sessions'],
      ['agt status', 'show the folder here, the settings and what is wrong'],
    ];
  }
  const here = sessionContaining(user, context.cwd);
  if (here !== undefined && isActive(here)) {
    return [
      ['agt session log', `the steps of session ${here.session_id}, which you are in`],
      ['agt undo', 'go back by one of them'],
      ['agt accept', 'bring its work to your branch, and end it'],
    ];
  }
  const directory = inDirectory(user.git, user.worktree ?? user.git.cwd);
  const isUnborn = (await resolveObject(directory, 'HEAD^{commit}')) === undefined;
  const active = listRecords(user).records.filter(isActive);
  const running = active.flatMap(({ session_id: id, owner }): Step[] =>
    owner === undefined || processIsGone(owner)
      ? []
      : [[`agt session log ${id}`, `${owner.command} runs in this session: its steps so far`]],
  );
  const them = plural(active.length, 'session');
  return [
    ...running.slice(0, 1),
    active.length > 0 && ['agt list', `${them} here: the work, and whether it would merge`],
    ...inFolder,
    isUnborn && [FIRST_COMMIT, 'make the first commit, from which sessions begin'],
    ['agt run --new NAME -- COMMAND', 'start an agent in a session of its own'],
    ['agt status', 'show this repository, its sessions, and what is wrong'],
    ['agt doctor', 'check git, the settings and every session'],
  ];
}
