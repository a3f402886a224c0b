/**
 * `agt hooks install` and `uninstall`. agt first writes down what the file was, then replaces it as a whole. So after a
 * kill the file is the old one or the new one, and `uninstall` works on both.
 */
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { withLock } from '../../disk/lock.ts';
import { AgtError, isAgtError } from '../../errors.ts';
import { hooksDirectory } from '../state-directory.ts';
import { type ChangedFile, type Installed, InstalledFiles } from './installed.ts';
import type { HookSettings } from './settings.ts';
import { decodeSettings, digestOf, isSame, readSettingsFile, replaceSettingsFile } from './settings-file.ts';

export interface HooksFile {
  readonly tool: string;
  /** Absolute. */
  readonly path: string;
  /** The user's own settings, not those of a project. */
  readonly isUsers: boolean;
  readonly settings: HookSettings;
}

export interface HooksProgram {
  /** The shell command that calls `agt hook`. */
  readonly command: string;
  /** Makes what the command starts, before the settings name it. Returns whether it was another one. */
  readonly prepare: () => boolean;
}

export type InstallOutcome = 'installed' | 'updated' | 'unchanged';
export type UninstallOutcome = 'uninstalled' | 'not-installed';

/** @throws AgtError if agt cannot change the file; it is as before then. */
export function installHooks(
  stateDir: string,
  file: HooksFile,
  { command, prepare }: HooksProgram,
  dryRun: boolean,
): Promise<InstallOutcome> {
  if (dryRun) return plan(stateDir, file, command).then(({ outcome }) => outcome);
  const files = new InstalledFiles(stateDir);
  const directories = files.makeDirectories(dirname(file.path));
  return withLock(lockFile(stateDir), 'the hooks', async () => {
    const { before, after, original, outcome, known } = await plan(stateDir, file, command);
    if (outcome === 'unchanged') return prepare() ? 'updated' : outcome;
    const installed: Installed = {
      tool: file.tool,
      ...changedFile(file.path, original, after),
      trust: known?.trust,
      directories,
    };
    files.write(installed, file.isUsers);
    prepare();
    replaceSettingsFile(file.path, before, after);
    failurePoint('hooks: installed');
    return outcome;
  }).catch((error: unknown) => {
    files.tidy(directories);
    throw error;
  });
}

interface Plan {
  readonly before: Buffer | undefined;
  readonly after: Buffer;
  /** The file without hooks of agt. */
  readonly original: Buffer | undefined;
  readonly outcome: InstallOutcome;
  readonly known: Installed | undefined;
}

async function plan(stateDir: string, file: HooksFile, command: string): Promise<Plan> {
  const { path, settings } = file;
  const before = readSettingsFile(path);
  const known = new InstalledFiles(stateDir).read(file.tool, path, file.isUsers);
  const isOurs = isUntouched(known, before);
  const original = isOurs ? originalOf(known) : await withoutHooks(file, before, known);
  const hadHooks = !isSame(before, original);
  const text = original === undefined ? undefined : decodeSettings(path, original);
  const after = Buffer.from(await about(path, () => settings.add(text, command)));
  const isUnchanged = isSame(before, after) && (isOurs || hadHooks);
  const outcome = isUnchanged ? 'unchanged' : hadHooks ? 'updated' : 'installed';
  return { before, after, original, outcome, known };
}

export function changedFile(file: string, before: Buffer | undefined, after: Buffer): ChangedFile {
  return { file, original: before?.toString('base64') ?? null, digest: digestOf(after) };
}

export function isUntouched(
  known: ChangedFile | undefined,
  content: Buffer | undefined,
): known is ChangedFile {
  return known !== undefined && content !== undefined && digestOf(content) === known.digest;
}

export function originalOf({ original }: ChangedFile): Buffer | undefined {
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
): Promise<UninstallOutcome> {
  const before = readSettingsFile(file.path);
  const isThere = (await findHooks(file)) !== undefined;
  if (dryRun) return isThere ? 'uninstalled' : 'not-installed';
  const files = new InstalledFiles(stateDir);
  const known = files.read(file.tool, file.path, file.isUsers);
  if (!isThere && known === undefined) return 'not-installed';
  const directories = files.makeDirectories(hooksDirectory(stateDir));
  await withLock(lockFile(stateDir), 'the hooks', async () => {
    const after = isUntouched(known, before) ? originalOf(known) : await withoutHooks(file, before, known);
    bringBack(file.path, before, after);
    failurePoint('hooks: removed');
    files.forget(file.tool, file.path, file.isUsers);
    files.tidyAfterLast();
  });
  files.tidy(directories);
  return isThere ? 'uninstalled' : 'not-installed';
}

/** Deletes what a killed agt has left beside the file, too. */
export function bringBack(path: string, before: Buffer | undefined, after: Buffer | undefined): void {
  rmSync(`${path}.agt-new`, { force: true });
  if (before !== undefined && after === undefined) rmSync(path);
  else if (after !== undefined && !isSame(before, after)) replaceSettingsFile(path, before, after);
}

/** The command that the installed hooks call; undefined if there are none. @throws AgtError */
export async function findHooks({ path, settings }: HooksFile): Promise<string | undefined> {
  const bytes = readSettingsFile(path);
  if (bytes === undefined) return undefined;
  return about(path, () => settings.find(decodeSettings(path, bytes)));
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
async function about<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!isAgtError(error)) throw error;
    throw new AgtError(`cannot change ${path}: ${error.message}`, {
      hints: ['agt left the file alone; correct it, and run the command again'],
      cause: error,
    });
  }
}
