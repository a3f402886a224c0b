import { findKey, SETTING_KEYS } from '../../../config/keys.ts';
import { globalConfigPath } from '../../../config/settings.ts';
import { writeSetting } from '../../../config/write-setting.ts';
import { AgtError, usageError } from '../../../errors.ts';
import { listRecords } from '../../../session/record.ts';
import { defineCommand } from '../../command-line/command.ts';
import type { Program } from '../../program.ts';

export const configSet = defineCommand({
  usage: 'config set <key> <value>',
  group: 'set up',
  summary: 'set a value for this repository, or with --global for all of yours',
  positionals: {
    key: { type: 'string', demandOption: true, describe: 'its name, such as agt.maxFileSize' },
    value: { type: 'string', demandOption: true, describe: 'the value' },
  },
  options: {
    global: { type: 'boolean', default: false, describe: 'in ~/.agtconfig instead of the repository' },
  },
  examples: [
    ['agt config set agt.maxFileSize 2g', 'for this repository'],
    ['agt config set --global agt.gitPath /usr/bin/git', 'for all of yours'],
  ],
  run: async (args, program) => {
    const key = findKey(args.key);
    if (key === undefined) throw usageError(`no setting '${args.key}'`, knownKeys());
    const problem = key.check(args.value);
    if (problem !== undefined) throw usageError(`'${args.value}' is no value for ${key.name}: ${problem}`);
    if (key.globalOnly && !args.global) {
      throw usageError(
        `${key.name} is honoured only from your own file`,
        `agt config set --global ${key.name} ${args.value}`,
      );
    }
    const file = args.global ? globalFile(program) : await localFile(program, key.name);
    await writeSetting(await program.git(), file, key.name, args.value);
    return 0;
  },
});

export function knownKeys(): string {
  return `settings: ${SETTING_KEYS.map(({ name }) => name).join(', ')}`;
}

function globalFile(program: Program): string {
  const file = globalConfigPath(program.env);
  if (file === undefined) throw new AgtError('no HOME, and so no ~/.agtconfig', { hints: ['set HOME'] });
  return file;
}

/** Prefixes and the agent's address are in every ref and commit of a session: they stay while there are sessions. */
async function localFile(program: Program, name: string): Promise<string> {
  const repository = await program.repository();
  const fixed = ['agt.branchPrefix', 'agt.workPrefix', 'agt.agentEmail'].includes(name);
  const { records } = listRecords(repository);
  if (fixed && records.length > 0) {
    throw new AgtError(`${name} cannot be changed while this repository has sessions (${records.length})`, {
      hints: ['remove them first: agt session remove --delete-branch'],
    });
  }
  return repository.configFile;
}
