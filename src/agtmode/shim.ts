/** The shim: the `git` that `agt shim install` writes, and that of commands of `agt session run`. */
import { readlinkSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { globalConfigPath, toSettings } from '../config/settings.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { readIfThere, readRegularFile, statOrUndefined } from '../disk/read-file.ts';
import { AgtError, attempt } from '../errors.ts';
import { firstGitIsAgt, ownFiles, SHIM_MARK } from '../git/run/find-git.ts';
import { gitText } from '../git/run/git.ts';
import { linkPath, outdatedBecause, renewShim } from '../gitmode/shim/renew.ts';
import { shimText } from '../gitmode/shim/shim.ts';
import { binDirectory } from '../layout.ts';
import type { Finding } from '../maintenance/doctor/finding.ts';
import { ownCommand, ownVersion, packed } from '../process/invocation.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { type Context, gitForShim } from './context.ts';
import { frontIn, stableCommand, writeFront, writeScript } from './front/write-front.ts';

/** The mark is in the first lines of the script. */
const MARK_BYTES = 256;

export function isShim(path: string): boolean {
  const head = attempt(() => readRegularFile(path).toString('latin1', 0, MARK_BYTES));
  return head?.includes(SHIM_MARK) === true; // what is unreadable is no script
}

function firstShimOnPath(env: NodeJS.ProcessEnv): string | undefined {
  const first = (env['PATH'] ?? '')
    .split(delimiter)
    .map((dir) => join(dir, 'git'))
    .find((path) => statOrUndefined(path)?.isFile());
  return first !== undefined && isShim(first) ? first : undefined;
}

/** A note if the first git on PATH is a shim older than agt or the settings. Such a shim works, but slowly. */
export function findOutdatedShim(env: NodeJS.ProcessEnv): Finding[] {
  const shim = firstShimOnPath(env);
  const problem = shim && outdatedBecause(shim, env);
  if (shim === undefined || problem === undefined) return [];
  const mend = `agt shim install --dir ${shellQuote(dirname(shim))}`;
  return [{ level: 'note', about: shim, problem, mend }];
}

/** An upgrade of agt may bring another shim. */
export function renewShimOnPath({ env }: Context): void {
  const shim = firstShimOnPath(env);
  if (shim !== undefined) attempt(() => renewShim(shim, env));
}

export async function shimScript(dir: string, context: Context): Promise<string> {
  const git = await gitForShim(context);
  const [node] = ownCommand();
  const settings = toSettings(await context.settingValues());
  return shimText({
    version: ownVersion(),
    git: git.path,
    executable: linkPath(dir),
    node: packed ? undefined : node,
    settingsFile: globalConfigPath(context.env) ?? '/nonexistent',
    prefixes: settings,
    refuses: settings.refuse.length > 0,
    execPath: (await gitText(git, ['--exec-path'])).trim(),
  });
}

/** A current shim stays, as others may be starting it; its new time says that it fits agt and settings. */
export async function writeShim(dir: string, context: Context): Promise<void> {
  const text = await shimScript(dir, context);
  linkExecutable(linkPath(dir), context);
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

/** Upgrades replace what the agt on PATH leads to. */
function linkExecutable(link: string, context: Context): void {
  const [own] = packed ? stableCommand(context) : ownFiles();
  if (own === undefined) throw new AgtError('cannot find the agt executable');
  if (attempt(() => readlinkSync(link)) === resolve(own)) return;
  makeDirectories(dirname(link));
  // Another agt may do the same at the same time.
  const temporary = `${link}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  symlinkSync(resolve(own), temporary);
  renameSync(temporary, link);
}
