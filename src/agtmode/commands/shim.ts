/** agt shim install, uninstall, print: the shell script that agents run as `git`. */
import { existsSync, lstatSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { globalConfigPath, toSettings } from '../../config/settings.ts';
import { makeDirectories } from '../../disk/make-directories.ts';
import { AgtError, EXIT, usageError } from '../../errors.ts';
import { ownFiles } from '../../git/run/find-git.ts';
import { gitText } from '../../git/run/git.ts';
import { shimText } from '../../gitmode/shim/shim.ts';
import { packed } from '../../process/invocation.ts';
import { defineCommand } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { isShim, linkPath } from '../installed-shim.ts';

const DIR_OPTION = {
  dir: { type: 'string', describe: 'directory of the script (default: ~/.local/share/agt/bin)' },
} as const;

export const shimInstall = defineCommand({
  usage: 'shim install',
  group: 'setup',
  summary: 'write the git script to put on the PATH of your agents',
  description:
    'Write a shell script named git. Put its directory first on the PATH of your agents. The script runs the real git ' +
    'for commands that cannot show anything of agt, and agt for the others, so most commands are as fast as in git.',
  options: DIR_OPTION,
  examples: [
    [
      'agt shim install --dir ~/.agt-bin',
      'write the script; then start agents with PATH="$HOME/.agt-bin:$PATH"',
    ],
  ],
  run: async (args, context) => {
    const dir = shimDirectory(args.dir, context);
    const path = join(dir, 'git');
    refuseOtherGit(path);
    const text = await scriptFor(dir, context);
    linkExecutable(linkPath(dir));
    writeScript(path, text);
    context.out(`${path}\n`);
    if (!(context.env['PATH'] ?? '').split(delimiter).includes(dir)) {
      context.err(`hint: put it first on the PATH of your agents: export PATH='${dir}':"$PATH"\n`);
    }
    return EXIT.done;
  },
});

export const shimUninstall = defineCommand({
  usage: 'shim uninstall',
  group: 'setup',
  summary: 'remove the script that agt shim install wrote',
  options: DIR_OPTION,
  examples: [['agt shim uninstall --dir ~/.agt-bin', 'remove the script; agents use the real git again']],
  run: async (args, context) => {
    const dir = shimDirectory(args.dir, context);
    const path = join(dir, 'git');
    if (!existsSync(path)) throw new AgtError(`no shim in "${dir}"`);
    refuseOtherGit(path);
    rmSync(path);
    rmSync(dirname(linkPath(dir)), { recursive: true, force: true });
    return EXIT.done;
  },
});

export const shimPrint = defineCommand({
  usage: 'shim print',
  group: 'setup',
  summary: 'print the script that agt shim install would write',
  options: DIR_OPTION,
  examples: [['agt shim print | less', 'read the script before installing it']],
  run: async (args, context) => {
    context.out(await scriptFor(shimDirectory(args.dir, context), context));
    return EXIT.done;
  },
});

function shimDirectory(given: string | undefined, context: Context): string {
  if (given === '') throw usageError('--dir is empty', 'name a directory of its own, such as ~/.agt-bin');
  if (given !== undefined) return resolve(context.cwd, given);
  return join(context.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'agt', 'bin');
}

/** @throws AgtError if `path` is a git that agt did not write. */
function refuseOtherGit(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined || isShim(path)) return;
  throw new AgtError(`"${path}" exists and is not agt's shim`, {
    hints: ['choose another directory with --dir'],
  });
}

async function scriptFor(dir: string, context: Context): Promise<string> {
  return shimText({
    git: context.gitPath(),
    executable: linkPath(dir),
    settingsFile: globalConfigPath(context.env) ?? '/nonexistent',
    prefixes: toSettings(await context.settingValues()),
    execPath: (await gitText(await context.git(), ['--exec-path'])).trim(),
  });
}

function linkExecutable(link: string): void {
  const [own] = ownFiles(packed);
  if (own === undefined) throw new AgtError('cannot find the agt executable');
  makeDirectories(dirname(link));
  rmSync(link, { force: true });
  symlinkSync(resolve(own), link);
}

/** Other processes see the old script or the new one, never a part. */
function writeScript(path: string, text: string): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, text, { mode: 0o755 });
  renameSync(temporary, path);
}
