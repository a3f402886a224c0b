/** Writes the shim: the script for `agt shim install`, and the git of commands that `agt session run` starts. */
import { readlinkSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { globalConfigPath, toSettings } from '../config/settings.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { readIfThere } from '../disk/read-file.ts';
import { AgtError, attempt } from '../errors.ts';
import { firstGitIsAgt, ownFiles } from '../git/run/find-git.ts';
import { gitText } from '../git/run/git.ts';
import { shimText } from '../gitmode/shim/shim.ts';
import { binDirectory } from '../layout.ts';
import { ownCommand, packed } from '../process/invocation.ts';
import { type Context, gitForShim } from './context.ts';
import { frontIn, writeFront } from './front/write-front.ts';
import { linkPath } from './installed-shim.ts';

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

/**
 * A shim that is there and up to date stays as it is: other processes may just be starting it. Its time says that it fits
 * the executable and the settings of now.
 */
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
  if (targetOf(link) === resolve(own)) return;
  makeDirectories(dirname(link));
  // Another agt may do the same at the same time.
  const temporary = `${link}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  symlinkSync(resolve(own), temporary);
  renameSync(temporary, link);
}

function targetOf(link: string): string | undefined {
  return attempt(() => readlinkSync(link));
}

/** Other processes see the old script or the new one, never a part. */
function writeScript(path: string, text: string): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, text, { mode: 0o755 });
  renameSync(temporary, path);
}
