import { resolve } from 'node:path';
import { globalConfigPath, readSettings } from '../../config/settings.ts';
import { cloneRepository } from '../../repository/clone.ts';
import { defineCommand, JSON_OPTION } from '../command-line/command.ts';
import { json } from '../output/print.ts';

export const clone = defineCommand({
  usage: 'clone <url>',
  group: 'start',
  summary: 'clone a repository and make room for sessions',
  description:
    'Makes <name>.git (a bare repository), <name>/main (the primary worktree, named after the default branch) and ' +
    '<name>/sessions. The URL is anything that git clones from. If it fails or is interrupted, nothing is left.',
  positionals: { url: { type: 'string', demandOption: true, describe: 'the repository to clone' } },
  options: {
    path: { type: 'string', describe: 'the folder to make them in; by default the current one' },
    branch: { type: 'string', alias: 'b', describe: "check out this branch instead of the remote's default" },
    depth: { type: 'string', describe: 'fetch only so many commits (see git-clone)' },
    filter: { type: 'string', describe: 'a partial clone, such as blob:none (see git-clone)' },
    json: JSON_OPTION,
  },
  examples: [
    ['agt clone https://example.com/project.git', 'makes project.git and project/ here'],
    ['agt clone ../project --path ~/agents', 'makes them in ~/agents'],
  ],
  run: async (args, program) => {
    const settings = readSettings({ global: globalConfigPath(program.env), local: undefined }, program.env);
    const gitOptions = (['branch', 'depth', 'filter'] as const).flatMap((name) =>
      args[name] === undefined ? [] : [`--${name}=${args[name]}`],
    );
    const cloned = await cloneRepository(await program.git(), settings, {
      url: args.url,
      parent: resolve(program.cwd, args.path ?? '.'),
      gitOptions,
      cwd: program.cwd,
    });
    if (args.json) {
      program.out(json(cloned));
    } else {
      program.out(`bare repository   ${cloned.bare}\n`);
      program.out(`primary worktree  ${cloned.primary} (${cloned.branch})\n`);
      if (cloned.empty)
        program.err('warning: the remote has no commits; make one before the first session\n');
    }
    return 0;
  },
});
