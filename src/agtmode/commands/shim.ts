/** agt shim install, uninstall, print: the sh script that stands in front of the executable as `git`. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { globalConfigPath, toSettings } from '../../config/settings.ts';
import { AgtError } from '../../errors.ts';
import { ownFiles, SHIM_MARK } from '../../git/run/find.ts';
import { shimText } from '../../gitmode/shim/shim.ts';
import { packed } from '../../process/invocation.ts';
import { defineCommand } from '../command-line/command.ts';
import type { Context } from '../context.ts';

const DIR_OPTION = {
  dir: {
    type: 'string',
    describe: 'directory of the script (default: ~/.local/share/agt/bin)',
  },
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
    const dir = directory(args.dir, context);
    const path = join(dir, 'git');
    refuseForeign(path);
    mkdirSync(join(dir, LINK_DIR), { recursive: true });
    const link = join(dir, LINK_DIR, 'git');
    rmSync(link, { force: true });
    symlinkSync(executable(), link);
    const text = await textFor(dir, context);
    writeFileSync(`${path}.${process.pid}`, text, { mode: 0o755 });
    renameSync(`${path}.${process.pid}`, path);
    context.out(`${path}\n`);
    if (!(context.env['PATH'] ?? '').split(delimiter).includes(dir)) {
      context.err(`hint: put it first on the PATH of your agents: export PATH='${dir}':"$PATH"\n`);
    }
    return 0;
  },
});

export const shimUninstall = defineCommand({
  usage: 'shim uninstall',
  group: 'setup',
  summary: 'remove the script that agt shim install wrote',
  options: DIR_OPTION,
  examples: [['agt shim uninstall --dir ~/.agt-bin', 'remove the script; agents use the real git again']],
  run: async (args, context) => {
    const dir = directory(args.dir, context);
    const path = join(dir, 'git');
    if (!existsSync(path)) throw new AgtError(`no shim in "${dir}"`);
    refuseForeign(path);
    rmSync(path);
    rmSync(join(dir, LINK_DIR), { recursive: true, force: true });
    return 0;
  },
});

export const shimPrint = defineCommand({
  usage: 'shim print',
  group: 'setup',
  summary: 'print the script that agt shim install would write',
  options: DIR_OPTION,
  examples: [['agt shim print | less', 'read the script before installing it']],
  run: async (args, context) => {
    context.out(await textFor(directory(args.dir, context), context));
    return 0;
  },
});

/** Holds a link to the executable whose name is git, since the name chooses the face. */
const LINK_DIR = '.agt';

function directory(given: string | undefined, context: Context): string {
  return given === undefined
    ? join(context.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'agt', 'bin')
    : resolve(context.cwd, given);
}

async function textFor(dir: string, context: Context): Promise<string> {
  const settings = toSettings(await context.settingValues());
  return shimText({
    git: context.gitPath(),
    executable: join(dir, LINK_DIR, 'git'),
    settingsFile: globalConfigPath(context.env) ?? '/nonexistent',
    prefixes: settings,
  });
}

function executable(): string {
  const [own] = ownFiles(packed);
  if (own === undefined) throw new AgtError('cannot find the agt executable');
  return resolve(own);
}

/** @throws AgtError for a git that agt did not write. */
function refuseForeign(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  if (!readFileSync(path, 'latin1').slice(0, 256).includes(SHIM_MARK)) {
    throw new AgtError(`"${path}" exists and is not a shim of agt`, {
      hints: ['choose another directory: --dir DIR'],
    });
  }
}
