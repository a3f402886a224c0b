import { basename, dirname, resolve } from 'node:path';
import { globalConfigPath, readSettings } from '../../config/settings.ts';
import { cloneRepository } from '../../repository/clone.ts';
import { defineCommand, option } from '../command-line/command.ts';

export const clone = defineCommand({
  usage: 'clone <url> [directory]',
  summary: 'clone a repository and set it up for sessions',
  description:
    'Create <name>.git (a bare repository), <name>/main (a worktree of the default branch, named after the branch) and ' +
    '<name>/sessions (for session folders). If the clone fails or is interrupted, remove everything again. Sessions ' +
    'work in ordinary repositories as well: there, session folders go to <repository>.agt/sessions.',
  positionals: {
    url: option.required('repository to clone, as for git clone'),
    directory: option.value('<name>, or a path that ends with it (default: the name of the repository)'),
  },
  options: {
    path: option.value('create them in this directory (default: the current directory)'),
    branch: option.value('check out this branch, not the default branch', 'b'),
    depth: option.value('fetch only this many commits (see git-clone)'),
    filter: option.value('make a partial clone, such as blob:none (see git-clone)'),
    ...option.shared('json'),
  },
  examples: [
    ['agt clone https://example.com/project.git', 'create project.git and project/ here'],
    ['agt clone https://example.com/project.git mine', 'create mine.git and mine/'],
    ['agt clone ../project --path ~/agents', 'create them in ~/agents'],
  ],
  run: async (args, context) => {
    const settings = readSettings({ global: globalConfigPath(context.env), local: undefined }, context.env);
    const gitOptions = (['branch', 'depth', 'filter'] as const).flatMap((name) =>
      args[name] === undefined ? [] : [`--${name}=${args[name]}`],
    );
    const parent = resolve(context.cwd, args.path ?? '.');
    const area = args.directory === undefined ? undefined : resolve(parent, args.directory);
    const cloned = await cloneRepository(await context.git(), settings, {
      url: args.url,
      parent: area === undefined ? parent : dirname(area),
      name: area === undefined ? undefined : basename(area),
      gitOptions,
      cwd: context.cwd,
    });
    return {
      json: cloned,
      text: `bare repository   ${cloned.bare}\nprimary worktree  ${cloned.primary} (${cloned.branch})\n`,
      notes: cloned.empty
        ? 'warning: the remote has no commits; commit something before "agt session new"\n'
        : '',
    };
  },
});
