/** The shim: the `git` that `agt shim install` writes, and that of commands of `agt session run`. */
import { readlinkSync, renameSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { globalConfigPath, toSettings } from '../config/settings.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { readIfThere, readRegularFile, statOrUndefined } from '../disk/read-file.ts';
import { AgtError, attempt } from '../errors.ts';
import { firstGitIsAgt, ownFiles, SHIM_MARK } from '../git/run/find-git.ts';
import { gitText } from '../git/run/git.ts';
import { shellQuote } from '../git/run/trace.ts';
import { shimText } from '../gitmode/shim/shim.ts';
import { binDirectory } from '../layout.ts';
import type { Finding } from '../maintenance/doctor/finding.ts';
import { ownCommand, packed } from '../process/invocation.ts';
import { type Context, gitForShim } from './context.ts';
import { frontIn, writeFront, writeScript } from './front/write-front.ts';

/** The mark is in the first lines of the script. */
const MARK_BYTES = 256;

/** A link to agt. It is named git, so agt starts in git mode. */
export function linkPath(shimDirectory: string): string {
  return join(shimDirectory, '.agt', 'git');
}

export function isShim(path: string): boolean {
  const head = attempt(() => readRegularFile(path).toString('latin1', 0, MARK_BYTES));
  return head?.includes(SHIM_MARK) === true; // what is unreadable is no script
}

/** A note if the first git on PATH is a shim older than agt or the settings. Such a shim works, but slowly. */
export function findOutdatedShim(env: NodeJS.ProcessEnv, settingsFile: string | undefined): Finding[] {
  const shim = (env['PATH'] ?? '')
    .split(delimiter)
    .map((dir) => join(dir, 'git'))
    .find((path) => statOrUndefined(path)?.isFile());
  if (shim === undefined || !isShim(shim)) return [];
  const written = statSync(shim).mtimeMs;
  const sources = [linkPath(dirname(shim)), ...(settingsFile === undefined ? [] : [settingsFile])];
  const newer = sources.find((path) => (statOrUndefined(path)?.mtimeMs ?? 0) > written);
  const problem = `the shim is older than ${newer}, so every git command starts agt`;
  const mend = `agt shim install --dir ${shellQuote(dirname(shim))}`;
  return newer === undefined ? [] : [{ level: 'note', about: shim, problem, mend }];
}

export async function shimScript(dir: string, context: Context): Promise<string> {
  const git = await gitForShim(context);
  const [node] = ownCommand();
  return shimText({
    git: git.path,
    executable: linkPath(dir),
    node: packed ? undefined : node,
    settingsFile: globalConfigPath(context.env) ?? '/nonexistent',
    prefixes: toSettings(await context.settingValues()),
    execPath: (await gitText(git, ['--exec-path'])).trim(),
  });
}

/** A current shim stays, as others may be starting it; its new time says that it fits agt and settings. */
export async function writeShim(dir: string, context: Context): Promise<void> {
  const text = await shimScript(dir, context);
  linkExecutable(linkPath(dir));
  const path = join(dir, 'git');
  if (readIfThere(path) !== text) writeScript(path, text);
  else utimesSync(path, new Date(), new Date());
  writeFront(frontIn(dir), context);
}

/** The directory to put first on PATH so that `git` is agt's; undefined if it is already. */
export async function gitDirectory(context: Context, bin?: string): Promise<string | undefined> {
  if (firstGitIsAgt(context.env['PATH'])) return undefined;
  const dir = bin ?? binDirectory((await context.repository()).agtDir);
  await writeShim(dir, context);
  return dir;
}

function linkExecutable(link: string): void {
  const [own] = ownFiles();
  if (own === undefined) throw new AgtError('cannot find the agt executable');
  if (attempt(() => readlinkSync(link)) === resolve(own)) return;
  makeDirectories(dirname(link));
  // Another agt may do the same at the same time.
  const temporary = `${link}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  symlinkSync(resolve(own), temporary);
  renameSync(temporary, link);
}
