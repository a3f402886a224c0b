/** Shims that an upgrade or changed settings have left behind: the next call that starts agt renews them. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { globalConfigPath } from '../../config/settings.ts';
import { readSmallFile, statOrUndefined } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';
import { directoryOfOwnShim, gitOfShim } from '../../git/run/find-git.ts';
import { ownVersion, packed, startAgt } from '../../process/invocation.ts';

/** Not more often: after a step of the clock, each git command would do it again. */
const PAUSE_MS = 10_000;

/** A link to agt. It is named git, so agt starts in git mode. */
export function linkPath(shimDirectory: string): string {
  return join(shimDirectory, '.agt', 'git');
}

/** The line of the shim that says which agt wrote it. */
export function writtenBy(version: string): string {
  return `# Written by agt ${version}: "agt shim uninstall" removes it. Changes made here are lost.`;
}

/** Undefined for a shim that this agt would write in the same way. */
export function outdatedBecause(shim: string, env: NodeJS.ProcessEnv): string | undefined {
  if (readSmallFile(shim)?.includes(`\n${writtenBy(ownVersion())}\n`) !== true)
    return 'the shim is that of another version of agt';
  const settings = globalConfigPath(env);
  const sources = [linkPath(dirname(shim)), ...(settings === undefined ? [] : [settings])];
  const written = statSync(shim).mtimeMs;
  const newer = sources.find((path) => (statOrUndefined(path)?.mtimeMs ?? 0) > written);
  return newer && `the shim is older than ${newer}, so every git command starts agt`;
}

/** The shim that has started this process. */
export function renewOwnShim(env: NodeJS.ProcessEnv): void {
  const directory = directoryOfOwnShim();
  if (directory !== undefined) attempt(() => renewShim(join(directory, 'git'), env));
}

/** In the background. The shim keeps its git, unless the settings name another one. @throws Error */
export function renewShim(shim: string, env: NodeJS.ProcessEnv): void {
  if (!packed || outdatedBecause(shim, env) === undefined) return;
  if (Math.abs(Date.now() - statSync(shim).mtimeMs) < PAUSE_MS) return;
  const directory = dirname(shim);
  accessSync(directory, constants.W_OK);
  const git = gitOfShim(shim);
  const plain = Object.entries(env).filter(([name]) => !/^(AGT|GIT)_/.test(name));
  const path = [...(git === undefined ? [] : [dirname(git)]), env['PATH'] ?? ''].join(delimiter);
  const own = { ...Object.fromEntries(plain), PATH: path };
  startAgt(['shim', 'install', '--dir', directory], directory, own); // if it fails, agt doctor names the shim
}
