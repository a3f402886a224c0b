import { globalConfigPath } from '../../../config/settings.ts';
import { writeSetting } from '../../../config/write-setting.ts';
import { AgtError, EXIT, usageError } from '../../../errors.ts';
import { listRecords } from '../../../session/record.ts';
import { defineCommand } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { requireKey } from './require-key.ts';

export const configSet = defineCommand({
  usage: 'config set <key> <value>',
  group: 'setup',
  summary: 'change a setting of this repository, or of all (--global)',
  positionals: {
    key: { type: 'string', demandOption: true, describe: 'name of the setting, such as agt.maxFileSize' },
    value: { type: 'string', demandOption: true, describe: 'new value' },
  },
  options: {
    global: { type: 'boolean', default: false, describe: 'write to ~/.agtconfig, for all repositories' },
  },
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
    const file = args.global ? globalFile(context) : await localFile(context, key.name);
    await writeSetting(await context.git(), file, key.name, args.value);
    return EXIT.done;
  },
});

function globalFile(context: Context): string {
  const file = globalConfigPath(context.env);
  if (file === undefined)
    throw new AgtError('cannot find ~/.agtconfig: HOME is not set', { hints: ['set HOME'] });
  return file;
}

/** Settings that are part of every ref or commit of a session. */
const FIXED_BY_SESSIONS = ['agt.branchPrefix', 'agt.workPrefix', 'agt.agentEmail'];

/** @throws AgtError if the sessions of the repository do not allow a new value. */
async function localFile(context: Context, name: string): Promise<string> {
  const repository = await context.repository();
  const { records } = listRecords(repository);
  if (FIXED_BY_SESSIONS.includes(name) && records.length > 0) {
    throw new AgtError(`${name} cannot be changed while this repository has sessions (${records.length})`, {
      hints: ['remove them first: agt session remove <id> --delete-branch'],
    });
  }
  return repository.configFile;
}
