import { EXIT } from '../../../errors.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { json } from '../../output/format.ts';
import { requireKey } from './require-key.ts';

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
    const key = requireKey(args.key);
    const setting = (await context.settingValues()).find(({ name }) => name === key.name);
    const value = setting?.value || (key.name === 'agt.gitPath' ? context.gitPath() : '');
    if (args.json) {
      context.out(json({ ...setting, value }));
      return EXIT.done;
    }
    context.out(`${value}\n`);
    if (context.interactive) context.err(`(${setting?.value ? setting.origin : 'found on PATH'})\n`);
    return EXIT.done;
  },
});
