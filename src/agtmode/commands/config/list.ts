import { showValue } from '../../../config/keys.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { json, table } from '../../output/print.ts';

export const configList = defineCommand({
  usage: 'config list',
  group: 'setup',
  summary: 'list all settings, their values and origins',
  options: { json: JSON_OPTION },
  examples: [['agt config list', 'list the settings for this repository']],
  run: async (args, program) => {
    const values = await program.settingValues();
    if (args.json) program.out(json(values));
    else program.out(table(values.map(({ name, value, origin }) => [name, showValue(name, value), origin])));
    return 0;
  },
});
