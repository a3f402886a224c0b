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
import { ownFiles, SHIM_MARK } from '../../git/run/find-git.ts';
import { shimText } from '../../gitmode/shim/shim.ts';
import { packed } from '../../process/invocation.ts';
import { defineCommand } from '../command-line/command.ts';
import type { Program } from '../program.ts';

const DIR_OPTION = {
  dir: {
    type: 'string',
    describe: 'the directory to put first on PATH (default: ~/.local/share/agt/bin)',
  },
} as const;

export const shimInstall = defineCommand({
  usage: 'shim install',
  group: 'set up',
  summary: 'write the sh script that makes git mode as fast as git',
  description:
    'Writes a script named git. It becomes the real git at once wherever nothing could be hidden, and starts agt for the rest. Put its directory first on PATH.',
  options: DIR_OPTION,
  examples: [['agt shim install --dir ~/.agt-bin', 'then: export PATH="$HOME/.agt-bin:$PATH"']],
  run: async (args, program) => {
    const dir = directory(args.dir, program);
    const path = join(dir, 'git');
    refuseForeign(path);
    mkdirSync(join(dir, LINK_DIR), { recursive: true });
    const link = join(dir, LINK_DIR, 'git');
    rmSync(link, { force: true });
    symlinkSync(executable(), link);
    const text = await textFor(dir, program);
    writeFileSync(`${path}.${process.pid}`, text, { mode: 0o755 });
    renameSync(`${path}.${process.pid}`, path);
    program.out(`${path}\n`);
    if (!(program.env['PATH'] ?? '').split(delimiter).includes(dir)) {
      program.err(`hint: put it first on PATH: export PATH='${dir}':"$PATH"\n`);
    }
    return 0;
  },
});

export const shimUninstall = defineCommand({
  usage: 'shim uninstall',
  group: 'set up',
  summary: 'remove the script that agt shim install wrote',
  options: DIR_OPTION,
  examples: [['agt shim uninstall --dir ~/.agt-bin', 'real git is git again']],
  run: async (args, program) => {
    const dir = directory(args.dir, program);
    const path = join(dir, 'git');
    if (!existsSync(path)) throw new AgtError(`no shim at ${path}`);
    refuseForeign(path);
    rmSync(path);
    rmSync(join(dir, LINK_DIR), { recursive: true, force: true });
    return 0;
  },
});

export const shimPrint = defineCommand({
  usage: 'shim print',
  group: 'set up',
  summary: 'show the script that agt shim install would write',
  options: DIR_OPTION,
  examples: [['agt shim print | less', 'read before installing']],
  run: async (args, program) => {
    program.out(await textFor(directory(args.dir, program), program));
    return 0;
  },
});

/** Holds a link to the executable whose name is git, since the name chooses the face. */
const LINK_DIR = '.agt';

function directory(given: string | undefined, program: Program): string {
  return given === undefined
    ? join(program.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'agt', 'bin')
    : resolve(program.cwd, given);
}

async function textFor(dir: string, program: Program): Promise<string> {
  const settings = toSettings(await program.settingValues());
  return shimText({
    git: program.gitPath(),
    executable: join(dir, LINK_DIR, 'git'),
    settingsFile: globalConfigPath(program.env) ?? '/nonexistent',
    prefixes: settings,
  });
}

function executable(): string {
  const [own] = ownFiles(packed);
  if (own === undefined) throw new AgtError('cannot tell where agt itself is');
  return resolve(own);
}

/** @throws AgtError for a git that agt did not write. */
function refuseForeign(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  if (!readFileSync(path, 'latin1').slice(0, 256).includes(SHIM_MARK)) {
    throw new AgtError(`${path} exists and is not agt's shim`, {
      hints: ['choose another directory: --dir DIR'],
    });
  }
}
