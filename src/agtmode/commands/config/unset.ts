import { unsetSetting } from '../../../config/write-setting.ts';
import { EXIT } from '../../../errors.ts';
import { defineCommand, flag } from '../../command-line/command.ts';
import { requireKey } from './require-key.ts';
import { settingsFile } from './settings-file.ts';

export const configUnset = defineCommand({
  usage: 'config unset <key>',
  group: 'setup',
  summary: 'remove a setting of this repository, or of all (--global)',
  positionals: {
    key: { type: 'string', demandOption: true, describe: 'name of the setting, such as agt.maxFileSize' },
  },
  options: {
    global: flag('remove it from ~/.agtconfig'),
  },
  examples: [
    ['agt config unset agt.maxFileSize', 'go back to the limit of ~/.agtconfig, or to the default'],
    ['agt config unset --global agt.gitPath', 'let agt search PATH for git'],
  ],
  run: async (args, context) => {
    const key = requireKey(args.key);
    const file = await settingsFile(context, key.name, args.global);
    await unsetSetting(await context.git(), file, key.name);
    return EXIT.done;
  },
});
