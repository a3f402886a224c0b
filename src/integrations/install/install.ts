/**
 * `agt hooks install` and `uninstall`. agt first writes down what the file was, then replaces it as a whole. So after a
 * kill the file is the old one or the new one, and `uninstall` works on both.
 */
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { withLock } from '../../disk/lock.ts';
import { hooksDirectory } from '../../disk/state-home.ts';
import { AgtError, isAgtError } from '../../errors.ts';
import type { Trust } from '../integration.ts';
import {
  type ChangedFile,
  forgetInstalled,
  type HooksFile,
  type Installed,
  makeDirectories,
  readInstalled,
  removeDirectories,
  writeInstalled,
} from './installed.ts';
import { decodeSettings, digestOf, isSame, readSettingsFile, replaceSettingsFile } from './settings-file.ts';

export interface HooksProgram {
  /** The shell command that calls `agt hook`. */
  readonly command: string;
  /** Makes what the command starts, before the settings name it. Returns whether it was another one. */
  readonly prepare: () => boolean;
}

type InstallOutcome = 'installed' | 'updated' | 'unchanged';

/** @throws AgtError if agt cannot change the file; it is as before then. */
export function installHooks(
  stateDir: string,
  file: HooksFile,
  { command, prepare }: HooksProgram,
  dryRun: boolean,
): Promise<InstallOutcome> {
  if (dryRun) return plan(stateDir, file, command).then(({ outcome }) => outcome);
  const directories = makeDirectories(stateDir, dirname(file.path));
  return withLock(lockFile(stateDir), 'the hooks', async () => {
    const { before, after, original, outcome, known } = await plan(stateDir, file, command);
    if (outcome === 'unchanged') return prepare() ? 'updated' : outcome;
    const installed: Installed = {
      tool: file.tool,
      ...changedFile(file.path, original, after),
      trust: known?.trust,
      directories,
    };
    writeInstalled(stateDir, file, installed);
    prepare();
    replaceSettingsFile(file.path, before, after);
    failurePoint('hooks: installed');
    return outcome;
  }).catch((error: unknown) => {
    removeDirectories(directories);
    throw error;
  });
}

/** `original`: the file without hooks of agt. */
async function plan(stateDir: string, file: HooksFile, command: string) {
  const { path, settings } = file;
  const before = readSettingsFile(path);
  const known = readInstalled(stateDir, file);
  const isOurs = isUntouched(known, before);
  const original = isOurs ? originalOf(known) : await withoutHooks(file, before, known);
  const hadHooks = !isSame(before, original);
  const add = (bytes: Buffer | undefined) => {
    const text = bytes === undefined ? undefined : decodeSettings(path, bytes);
    return about(path, async () => Buffer.from(await settings.add(text, command)));
  };
  // Somebody has changed something else in the file.
  const isCurrent = !isOurs && hadHooks && isSame(before, await add(before));
  const after = isCurrent ? (before ?? Buffer.of()) : await add(original);
  const isUnchanged = isSame(before, after) && (isOurs || hadHooks);
  const outcome: InstallOutcome = isUnchanged ? 'unchanged' : hadHooks ? 'updated' : 'installed';
  return { before, after, original, outcome, known };
}

function changedFile(file: string, before: Buffer | undefined, after: Buffer): ChangedFile {
  return { file, original: before?.toString('base64') ?? null, digest: digestOf(after) };
}

function isUntouched(known: ChangedFile | undefined, content: Buffer | undefined): known is ChangedFile {
  return known !== undefined && content !== undefined && digestOf(content) === known.digest;
}

function originalOf({ original }: ChangedFile): Buffer | undefined {
  return original === null ? undefined : Buffer.from(original, 'base64');
}

async function withoutHooks(
  { path, settings }: HooksFile,
  bytes: Buffer | undefined,
  known: Installed | undefined,
): Promise<Buffer | undefined> {
  if (bytes === undefined) return undefined;
  const text = decodeSettings(path, bytes);
  if ((await about(path, () => settings.find(text))) === undefined) return bytes;
  const isMadeByAgt = known?.original === null;
  const left = (await about(path, () => settings.remove(text))) ?? (isMadeByAgt ? undefined : settings.empty);
  return left === undefined ? undefined : Buffer.from(left);
}

export async function uninstallHooks(
  stateDir: string,
  file: HooksFile,
  dryRun: boolean,
): Promise<'uninstalled' | 'not-installed'> {
  const before = readSettingsFile(file.path);
  const isThere = (await findHooks(file)) !== undefined;
  if (dryRun) return isThere ? 'uninstalled' : 'not-installed';
  const known = readInstalled(stateDir, file);
  if (!isThere && known === undefined) return 'not-installed';
  const directories = makeDirectories(stateDir, hooksDirectory(stateDir));
  await withLock(lockFile(stateDir), 'the hooks', async () => {
    const after = isUntouched(known, before) ? originalOf(known) : await withoutHooks(file, before, known);
    bringBack(file.path, before, after);
    failurePoint('hooks: removed');
    forgetInstalled(stateDir, file);
  });
  removeDirectories(directories);
  return isThere ? 'uninstalled' : 'not-installed';
}

/** Deletes what a killed agt has left beside the file, too. */
function bringBack(path: string, before: Buffer | undefined, after: Buffer | undefined): void {
  rmSync(`${path}.agt-new`, { force: true });
  if (before !== undefined && after === undefined) rmSync(path);
  else if (after !== undefined && !isSame(before, after)) replaceSettingsFile(path, before, after);
}

/** The command that the installed hooks call; undefined if there are none. @throws AgtError */
export async function findHooks({ path, settings }: HooksFile): Promise<string | undefined> {
  const bytes = readSettingsFile(path);
  if (bytes === undefined) return undefined;
  return about(path, () => settings.find(decodeSettings(path, bytes)), 'read');
}

/** The setting by which the user has switched the hooks off; undefined if they run. */
export async function switchedOffBy({ path, settings }: HooksFile): Promise<string | undefined> {
  const bytes = readSettingsFile(path);
  return bytes === undefined ? undefined : settings.switchedOffBy?.(decodeSettings(path, bytes));
}

function lockFile(stateDir: string): string {
  return join(hooksDirectory(stateDir), '.lock');
}

/** Errors of `HookSettings` do not name the file. */
async function about<T>(path: string, action: () => Promise<T>, verb = 'change'): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!isAgtError(error)) throw error;
    throw new AgtError(`cannot ${verb} ${path}: ${error.message}`, {
      hints: ['agt left the file alone; correct it, and run the command again'],
      cause: error,
    });
  }
}

interface Trusting {
  readonly stateDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly trust: Trust;
}

/** Lets an agent trust the hooks of agt. @throws AgtError if the agent refuses. */
export async function grantTrust({ stateDir, env, trust }: Trusting, file: HooksFile): Promise<void> {
  const path = trust.file(env);
  const before = readSettingsFile(path);
  await trust.grant(env, file.path);
  const installed = readInstalled(stateDir, file);
  const after = readSettingsFile(path);
  if (installed === undefined || after === undefined) return;
  const original = isUntouched(installed.trust, before) ? originalOf(installed.trust) : before;
  writeInstalled(stateDir, file, { ...installed, trust: changedFile(path, original, after) });
}

/** Takes that back, before the hooks go: the agent knows them by their place. */
export async function revokeTrust({ stateDir, env, trust }: Trusting, file: HooksFile): Promise<void> {
  const known = readInstalled(stateDir, file)?.trust;
  const path = trust.file(env);
  const content = readSettingsFile(path);
  if (isUntouched(known, content)) bringBack(path, content, originalOf(known));
  else if (content !== undefined) await trust.revoke(env, file.path);
}
