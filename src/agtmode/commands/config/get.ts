import { findKey } from '../../../config/keys.ts';
import { usageError } from '../../../errors.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { json } from '../../output/print.ts';
import { knownKeys } from './set.ts';

export const configGet = defineCommand({
  usage: 'config get <key>',
  group: 'set up',
  summary: 'the value of one setting, and on stderr where it comes from',
  positionals: { key: { type: 'string', demandOption: true, describe: 'its name, such as agt.agentEmail' } },
  options: { json: JSON_OPTION },
  examples: [['agt config get agt.gitPath', 'the real git that is used']],
  run: async (args, program) => {
    const key = findKey(args.key);
    if (key === undefined) throw usageError(`no setting '${args.key}'`, knownKeys());
    const setting = (await program.settingValues()).find(({ name }) => name === key.name);
    const value = setting?.value || (key.name === 'agt.gitPath' ? program.gitPath() : '');
    if (args.json) {
      program.out(json({ ...setting, value }));
      return 0;
    }
    program.out(`${value}\n`);
    if (program.interactive) program.err(`(${setting?.value ? setting.origin : 'found on PATH'})\n`);
    return 0;
  },
});
