import { showValue } from '../../../config/keys.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { json, table } from '../../output/print.ts';

export const configList = defineCommand({
  usage: 'config list',
  group: 'set up',
  summary: 'every setting, its value and where that comes from',
  options: { json: JSON_OPTION },
  examples: [['agt config list', 'what holds here']],
  run: async (args, program) => {
    const values = await program.settingValues();
    if (args.json) program.out(json(values));
    else program.out(table(values.map(({ name, value, origin }) => [name, showValue(name, value), origin])));
    return 0;
  },
});
