import { defineCommand, JSON_OPTION, required } from '../../command-line/command.ts';
import { requireKey } from './setting.ts';

export const configGet = defineCommand({
  usage: 'config get <key>',
  group: 'setup',
  summary: 'print the value of a setting',
  positionals: { key: required('name of the setting, such as agt.agentEmail') },
  options: { json: JSON_OPTION },
  examples: [['agt config get agt.gitPath', 'print the path of the real git']],
  run: async (args, context) => {
    const key = requireKey(args.key);
    const setting = (await context.settingValues()).find(({ name }) => name === key.name);
    const value = setting?.value || (key.name === 'agt.gitPath' ? context.gitPath() : '');
    const origin = setting?.value ? setting.origin : 'found on PATH';
    const notes = context.interactive ? `(${origin})\n` : '';
    return { json: { ...setting, value }, text: `${value}\n`, notes };
  },
});
