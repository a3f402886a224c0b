/** The settings file that a command changes. */
import { globalConfigPath } from '../../../config/settings.ts';
import { AgtError } from '../../../errors.ts';
import { listRecords } from '../../../session/record.ts';
import type { Context } from '../../context.ts';

/** @throws AgtError if the sessions of the repository do not allow a new value. */
export async function settingsFile(context: Context, name: string, global: boolean): Promise<string> {
  return global ? globalFile(context) : localFile(context, name);
}

function globalFile(context: Context): string {
  const file = globalConfigPath(context.env);
  if (file === undefined)
    throw new AgtError('cannot find ~/.agtconfig: HOME is not set', { hints: ['set HOME'] });
  return file;
}

/** Settings that are part of every ref or commit of a session. */
const FIXED_BY_SESSIONS = ['agt.branchPrefix', 'agt.workPrefix', 'agt.agentEmail'];

async function localFile(context: Context, name: string): Promise<string> {
  const repository = await context.repository();
  const { records } = listRecords(repository);
  // A setting that agt cannot use named no ref and no commit.
  const isUsed = !context.settingProblems().some((problem) => problem.message.includes(name));
  if (FIXED_BY_SESSIONS.includes(name) && isUsed && records.length > 0) {
    throw new AgtError(`${name} cannot be changed while this repository has sessions (${records.length})`, {
      hints: ['remove them first: agt session remove <id> --delete-branch'],
    });
  }
  return repository.configFile;
}
