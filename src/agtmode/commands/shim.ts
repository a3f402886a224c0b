/** agt shim install, uninstall, print: the shell script that agents run as `git`. */
import { existsSync, lstatSync, rmdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { AgtError, attempt, usageError } from '../../errors.ts';
import { linkPath } from '../../gitmode/shim/renew.ts';
import { defineCommand, option } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { frontIn, removeFront } from '../front/write-front.ts';
import { lines, showPath } from '../output/format.ts';
import { isShim, shimScript, writeShim } from '../shim.ts';

const DIR_OPTION = {
  dir: option.value('directory of the script (default: ~/.local/share/agt/bin)'),
} as const;

export const shimInstall = defineCommand({
  usage: 'shim install',
  summary: 'write the git script to put on the PATH of your agents',
  description:
    'Write a shell script named git. Put its directory first on the PATH of your agents. The script runs the real git ' +
    'for commands that cannot show anything of agt, and agt for the others, so most commands are as fast as in git. The ' +
    'script agt beside it starts agt, unless agt autocommit would find that nothing has changed.',
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
    const isNew = !existsSync(path);
    await writeShim(dir, context);
    const isOnPath = (context.env['PATH'] ?? '').split(delimiter).includes(dir);
    const hint = `hint: put it first on the PATH of your agents: export PATH='${dir}':"$PATH"\n`;
    // An assignment to PATH makes a shell look for git again.
    return { text: `${path}\n`, notes: isOnPath ? (isNew ? REMEMBERS : '') : hint };
  },
});

export const shimUninstall = defineCommand({
  usage: 'shim uninstall',
  summary: 'remove the scripts that agt shim install wrote',
  options: DIR_OPTION,
  examples: [['agt shim uninstall --dir ~/.agt-bin', 'remove the script; agents use the real git again']],
  run: async (args, context) => {
    const dir = shimDirectory(args.dir, context);
    const path = join(dir, 'git');
    if (!existsSync(path)) return `no shim in ${showPath(dir)}\n`;
    refuseOtherGit(path);
    rmSync(path);
    const front = frontIn(dir);
    const removed = removeFront(front) ? [path, front] : [path];
    rmSync(dirname(linkPath(dir)), { recursive: true, force: true });
    if (args.dir === undefined) for (const own of [dir, dirname(dir)]) attempt(() => rmdirSync(own)); // if empty
    return { text: lines(removed.map((one) => `removed ${showPath(one)}`)), notes: REMEMBERS };
  },
});

export const shimPrint = defineCommand({
  usage: 'shim print',
  summary: 'print the script that agt shim install would write',
  options: DIR_OPTION,
  examples: [['agt shim print | less', 'read the script before installing it']],
  run: async (args, context) => shimScript(shimDirectory(args.dir, context), context),
});

const REMEMBERS = 'hint: a shell remembers where it has found a command; it forgets that with: hash -r\n';

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
