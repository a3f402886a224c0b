/** Writes the front: the script that agents start in place of agt. A development build has none. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { makeDirectories } from '../../disk/make-directories.ts';
import { readRegularFile, statOrUndefined } from '../../disk/read-file.ts';
import { hooksFront, stateDirectory } from '../../disk/state-home.ts';
import { AgtError } from '../../errors.ts';
import { ownFiles } from '../../git/run/find-git.ts';
import { hookCommand } from '../../integrations/install/settings.ts';
import type { Integration } from '../../integrations/integration.ts';
import { INTEGRATIONS } from '../../integrations/tools.ts';
import { ownCommand, packed } from '../../process/invocation.ts';
import type { Context } from '../context.ts';
import { FRONT_MARK, frontText } from './front-text.ts';

/** Larger files are other programs, such as agt itself. */
const LARGEST = 64 * 1024;

/**
 * Hooks call it: the front in their directory, or in `directory` for one run alone; agt itself for an agent without
 * events that the front answers.
 */
export function hooksProgram(context: Context, integration: Integration, directory?: string) {
  const agt = { command: hookCommand(stableCommand(context), integration), prepare: () => false };
  if (!hasFront(integration)) return { ...agt, isCurrent: () => true };
  const path = directory === undefined ? hooksFront(requireStateDirectory(context)) : frontIn(directory);
  return {
    command: hookCommand([path], integration),
    prepare: () => writeFront(path, context),
    isCurrent: () => readFront(path) === textFor(context),
  };
}

function hasFront({ quietEvents }: Pick<Integration, 'quietEvents'>): boolean {
  return packed && quietEvents !== undefined;
}

/** The path of the front that hooks call, if any have been installed that do. */
function presentFront({ env }: Context): string | undefined {
  const stateDir = stateDirectory(env);
  const path = stateDir && hooksFront(stateDir);
  return path !== undefined && readFront(path) !== undefined ? path : undefined;
}

/** Whether the hooks of this agent have been installed, and go through the front. */
export function usesHooksFront(context: Context, integration: Integration): boolean {
  return hasFront(integration) && presentFront(context) !== undefined;
}

/** An upgrade of agt may bring another front. */
export function renewHooksFront(context: Context): void {
  const path = presentFront(context);
  if (path !== undefined) writeFront(path, context);
}

/** Another program of this name stays, and so does a front that is up to date: processes may just be starting it. */
export function writeFront(path: string, context: Context): boolean {
  const text = textFor(context);
  const present = readFront(path);
  const isOther = present === undefined && statOrUndefined(path) !== undefined;
  if (!packed || isOther || present === text) return false;
  writeScript(path, text);
  return true;
}

/** Other processes see the old script or the new one, never a part. Another agt may do the same at the same time. */
export function writeScript(path: string, text: string): void {
  makeDirectories(dirname(path));
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: 0o755 });
  renameSync(temporary, path);
}

export function removeFront(path: string): boolean {
  const isFront = readFront(path) !== undefined;
  if (isFront) rmSync(path);
  return isFront;
}

/** The front in a directory that is on PATH. */
export function frontIn(directory: string): string {
  return join(directory, 'agt');
}

/** Undefined if there is no front. */
function readFront(path: string): string | undefined {
  const stat = statOrUndefined(path);
  if (stat?.isFile() !== true || stat.size > LARGEST) return undefined;
  const text = readRegularFile(path).toString();
  return text.split('\n', 2)[1]?.includes(FRONT_MARK) === true ? text : undefined;
}

function textFor(context: Context): string {
  const [agt = ''] = stableCommand(context);
  return frontText({ agt, integrations: INTEGRATIONS });
}

export function requireStateDirectory({ env }: Context): string {
  const stateDir = stateDirectory(env);
  if (stateDir !== undefined) return stateDir;
  throw new AgtError('there is no HOME, so agt does not know where your settings are', {
    hints: ['set HOME, and run the command again'],
  });
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
