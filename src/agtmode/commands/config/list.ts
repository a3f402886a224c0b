import { showValue } from '../../../config/keys.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { table } from '../../output/format.ts';

export const configList = defineCommand({
  usage: 'config list',
  group: 'setup',
  summary: 'list all settings, their values and origins',
  options: { json: JSON_OPTION },
  examples: [['agt config list', 'list the settings for this repository']],
  run: async (_, context) => {
    const values = await context.settingValues();
    const rows = values.map(({ name, value, origin }) => [name, showValue(name, value), origin]);
    return { json: values, text: table(rows) };
  },
});
