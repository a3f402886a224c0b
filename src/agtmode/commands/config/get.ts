import { findKey } from '../../../config/keys.ts';
import { usageError } from '../../../errors.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { json } from '../../output/format.ts';
import { knownKeys } from './set.ts';

export const configGet = defineCommand({
  usage: 'config get <key>',
  group: 'setup',
  summary: 'print the value of a setting',
  positionals: {
    key: { type: 'string', demandOption: true, describe: 'name of the setting, such as agt.agentEmail' },
  },
  options: { json: JSON_OPTION },
  examples: [['agt config get agt.gitPath', 'print the path of the real git']],
  run: async (args, context) => {
    const key = findKey(args.key);
    if (key === undefined) throw usageError(`unknown setting "${args.key}"`, knownKeys());
    const setting = (await context.settingValues()).find(({ name }) => name === key.name);
    const value = setting?.value || (key.name === 'agt.gitPath' ? context.gitPath() : '');
    if (args.json) {
      context.out(json({ ...setting, value }));
      return 0;
    }
    context.out(`${value}\n`);
    if (context.interactive) context.err(`(${setting?.value ? setting.origin : 'found on PATH'})\n`);
    return 0;
  },
});
