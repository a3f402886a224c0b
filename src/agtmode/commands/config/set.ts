import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SettingName } from '../../../config/keys.ts';
import { toSettings } from '../../../config/settings.ts';
import { EXIT, usageError } from '../../../errors.ts';
import { gitText } from '../../../git/run/git.ts';
import { defineCommand, flag, required } from '../../command-line/command.ts';
import { KEY_ARGUMENT, requireKey, settingsFile } from './setting.ts';

export const configSet = defineCommand({
  usage: 'config set <key> <value>',
  group: 'setup',
  summary: 'change a setting of this repository, or of all (--global)',
  positionals: {
    key: KEY_ARGUMENT,
    value: required('new value'),
  },
  options: { global: flag('write to ~/.agtconfig, for all repositories') },
  examples: [
    ['agt config set agt.maxFileSize 2g', 'change the limit for this repository'],
    ['agt config set --global agt.gitPath /usr/bin/git', 'set the real git for all repositories'],
  ],
  run: async (args, context) => {
    const key = requireKey(args.key);
    const problem = key.check(args.value);
    if (problem !== undefined) throw usageError(`invalid value "${args.value}" for ${key.name}: ${problem}`);
    if (key.globalOnly && !args.global) {
      throw usageError(
        `${key.name} cannot be set for one repository`,
        `set it for all: agt config set --global ${key.name} ${args.value}`,
      );
    }
    const values = (await context.settingValues()).filter(({ name }) => name !== key.name);
    const wanted = { name: key.name as SettingName, value: args.value, origin: 'the command line' };
    toSettings([...values, wanted]); // throws if the prefixes overlap
    const file = await settingsFile(context, key.name, args.global);
    mkdirSync(dirname(file), { recursive: true });
    // git locks the file and keeps its comments.
    await gitText(await context.git(), ['config', '--file', file, '--replace-all', key.name, args.value]);
    return EXIT.done;
  },
});
