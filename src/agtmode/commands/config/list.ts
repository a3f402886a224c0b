import { showValue } from '../../../config/keys.ts';
import { EXIT } from '../../../errors.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { json, table } from '../../output/format.ts';

export const configList = defineCommand({
  usage: 'config list',
  group: 'setup',
  summary: 'list all settings, their values and origins',
  options: { json: JSON_OPTION },
  examples: [['agt config list', 'list the settings for this repository']],
  run: async (args, context) => {
    const values = await context.settingValues();
    if (args.json) context.out(json(values));
    else context.out(table(values.map(({ name, value, origin }) => [name, showValue(name, value), origin])));
    return EXIT.done;
  },
});
