import { AgtError, EXIT } from '../../../errors.ts';
import { runGit } from '../../../git/run/git.ts';
import { defineCommand, flag } from '../../command-line/command.ts';
import { KEY_ARGUMENT, requireKey, settingsFile } from './setting.ts';

/** git-config's exit code for a name that the file does not have: that is no error. */
const NOT_FOUND = 5;

export const configUnset = defineCommand({
  usage: 'config unset <key>',
  group: 'setup',
  summary: 'remove a setting of this repository, or of all (--global)',
  positionals: { key: KEY_ARGUMENT },
  options: { global: flag('remove it from ~/.agtconfig') },
  examples: [
    ['agt config unset agt.maxFileSize', 'go back to the limit of ~/.agtconfig, or to the default'],
    ['agt config unset --global agt.gitPath', 'let agt search PATH for git'],
  ],
  run: async (args, context) => {
    const key = requireKey(args.key);
    const file = await settingsFile(context, key.name, args.global);
    const words = ['config', '--file', file, '--unset-all', key.name];
    const { exitCode, stderr } = await runGit(await context.git(), words);
    if (exitCode !== EXIT.done && exitCode !== NOT_FOUND)
      throw new AgtError(`cannot change ${file}: ${stderr.trim()}`, { hints: ['correct the file by hand'] });
    return EXIT.done;
  },
});
