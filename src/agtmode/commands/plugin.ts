/** agt plugin: writes hooks, MCP server, command and skill as a plugin of an agent. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { makeDirectories } from '../../disk/make-directories.ts';
import { readIfThere } from '../../disk/read-file.ts';
import { AgtError, usageError } from '../../errors.ts';
import { pluginFiles } from '../../integrations/plugin.ts';
import { findIntegration, INTEGRATIONS } from '../../integrations/tools.ts';
import { ownVersion } from '../../process/invocation.ts';
import { defineCommand, option } from '../command-line/command.ts';
import { lines, showPath, verb } from '../output/format.ts';

const NAMES = INTEGRATIONS.filter(({ plugin }) => plugin !== undefined).map(({ name }) => name);

export const plugin = defineCommand({
  usage: 'plugin <dir>',
  summary: 'write a plugin for an agent, to which a marketplace can point',
  description:
    'Write a plugin of Claude Code or Codex into a directory: the hooks of agt hooks install, agt mcp, a skill that ' +
    'tells the agent when to use agt, and for Claude Code the command /agt:undo. It calls the agt on PATH. Where the ' +
    "user's own settings have hooks of agt, its hooks do nothing. agt writes only into an empty directory, or one with " +
    'such a plugin.',
  positionals: { dir: option.required('the directory, which agt makes if it is not there') },
  options: {
    for: { choices: NAMES, default: 'claude-code', describe: 'the agent' },
    ...option.shared('dry-run', 'json'),
  },
  examples: [
    ['agt plugin plugins/agt', 'write the plugin for Claude Code'],
    ['agt plugin plugins/agt --for codex', 'write that for Codex'],
  ],
  run: async (args, { cwd }) => {
    const integration = findIntegration(args.for);
    const files = integration && (await pluginFiles(integration, ownVersion()));
    if (files === undefined) throw usageError(`agt has no plugin for "${args.for}"`);
    const directory = resolve(cwd, args.dir);
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false)
      throw usageError(
        `"${showPath(directory)}" is no directory`,
        'give one; agt makes it if it is not there',
      );
    const isOfAgt = (path: string) =>
      path.endsWith('plugin.json') && /"name": "agt"/.test(readIfThere(join(directory, path)));
    const isFree = !existsSync(directory) || readdirSync(directory).length === 0;
    if (!isFree && ![...files.keys()].some(isOfAgt))
      throw new AgtError(`"${showPath(directory)}" is not empty, and has no plugin of agt`, {
        hints: ['give another directory'],
      });
    const changed = [...files].filter(([path, text]) => readIfThere(join(directory, path)) !== text);
    for (const [path, text] of args.dryRun ? [] : changed) {
      makeDirectories(dirname(join(directory, path)));
      writeFileAtomic(join(directory, path), text);
    }
    const paths = changed.map(([path]) => path);
    const wrote = verb(args.dryRun, 'wrote', 'write');
    return {
      json: { directory, tool: args.for, files: paths, dry_run: args.dryRun },
      text: lines(paths.map((path) => `${wrote} ${showPath(join(args.dir, path))}`)),
    };
  },
});
