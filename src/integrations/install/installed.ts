/**
 * The facts that `agt hooks install` remembers of a settings file: its bytes from before, and a digest of the result. So
 * `uninstall` can bring back the very bytes, if nobody has changed the file since.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { readJson } from '../../disk/read-file.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { hooksBin, hooksDirectory, hooksFront } from '../../disk/state-home.ts';
import { attempt } from '../../errors.ts';
import { hooksLog, reserveFile, runningHooks } from '../hooks-log.ts';
import type { HookSettings } from './settings.ts';
import { digestOf } from './settings-file.ts';

export interface HooksFile {
  readonly tool: string;
  /** Absolute. */
  readonly path: string;
  /** The user's own settings, not those of a project. */
  readonly isUsers: boolean;
  readonly settings: HookSettings;
}

export interface ChangedFile {
  readonly file: string;
  /** Its content before, in base64; null if it was not there. */
  readonly original: string | null;
  /** A digest of its content afterwards. */
  readonly digest: string;
}

/** The settings file, and what else agt knows. */
export interface Installed extends ChangedFile {
  readonly tool: string;
  /** The file in which the agent has stored that the user trusts the hooks. */
  readonly trust?: ChangedFile | undefined;
  /** Directories that agt made, also for other agents; the innermost last. */
  readonly directories: readonly string[];
}

/** Hooks in the settings of a project have a file of their own. */
function installedFile(stateDir: string, { tool, path, isUsers }: HooksFile): string {
  const name = isUsers ? tool : `${tool}-${digestOf(Buffer.from(path)).slice(0, 12)}`;
  return join(hooksDirectory(stateDir), `${name}.json`);
}

/** Undefined also for a damaged file: agt then removes its entries alone. */
export function readInstalled(stateDir: string, file: HooksFile): Installed | undefined {
  const installed = readJson(installedFile(stateDir, file)) as Installed | undefined;
  return installed?.file === file.path ? installed : undefined;
}

/** Before the settings file itself changes. */
export function writeInstalled(stateDir: string, file: HooksFile, installed: Installed): void {
  const path = installedFile(stateDir, file);
  writeFileAtomic(path, `${JSON.stringify(installed, null, 2)}\n`, { durable: true });
  chmodSync(path, 0o600);
  failurePoint('hooks: remembered');
}

/** The last hooks take the log with them, and the script that they have called. */
export function forgetInstalled(stateDir: string, file: HooksFile): void {
  const own = [installedFile(stateDir, file), join(hooksDirectory(stateDir), `${file.tool}.last`)];
  for (const path of own) rmSync(path, { force: true });
  if (allInstalled(stateDir).length > 0) return;
  for (const path of [
    hooksLog(stateDir),
    reserveFile(stateDir),
    hooksFront(stateDir),
    ...runningHooks(stateDir),
  ])
    rmSync(path, { force: true });
  removeTree(hooksBin(stateDir));
}

/** Makes the directory. Returns what `Installed.directories` has to name now. */
export function makeDirectories(stateDir: string, path: string): string[] {
  const known = allInstalled(stateDir).flatMap(({ directories }) => directories);
  const made = [hooksDirectory(stateDir), path].flatMap(makeMissing);
  return [...new Set([...known, ...made])];
}

/** Deletes the directories that agt has made, if they are empty. */
export function removeDirectories(directories: readonly string[]): void {
  for (const directory of [...directories].sort((a, b) => b.length - a.length))
    attempt(() => rmdirSync(directory)); // it may hold something else
}

function allInstalled(stateDir: string): Installed[] {
  const directory = hooksDirectory(stateDir);
  const names = (attempt(() => readdirSync(directory)) ?? []).filter((name) => name.endsWith('.json'));
  return names.flatMap((name) => (readJson(join(directory, name)) as Installed | undefined) ?? []);
}

/** The directories that were missing, outermost first. */
function makeMissing(path: string): string[] {
  if (existsSync(path)) return [];
  const above = dirname(path) === path ? [] : makeMissing(dirname(path));
  mkdirSync(path, { mode: 0o700 });
  return [...above, path];
}
