/** The settings file that a command changes. */
import { globalConfigPath } from '../../../config/settings.ts';
import { AgtError } from '../../../errors.ts';
import type { Repository } from '../../../repository/repository.ts';
import { listRecords } from '../../../session/record.ts';
import type { Context } from '../../context.ts';

/** @throws AgtError if the sessions of the repository do not allow a new value. */
export async function settingsFile(context: Context, name: string, global: boolean): Promise<string> {
  return global ? globalFile(context, name) : localFile(context, name);
}

async function globalFile(context: Context, name: string): Promise<string> {
  const file = globalConfigPath(context.env);
  if (file === undefined)
    throw new AgtError('cannot find ~/.agtconfig: HOME is not set', { hints: ['set HOME'] });
  const repository = PREFIXES.includes(name) ? await repositoryOrNone(context) : undefined;
  const sessions = repository === undefined ? 0 : listRecords(repository).records.length;
  if (sessions > 0)
    context.err(
      `note: existing sessions keep the names of their branches, which stay hidden (${sessions} here)\n`,
    );
  return file;
}

/** A setting of all repositories can be changed in any place, whatever is wrong with it. */
async function repositoryOrNone(context: Context): Promise<Repository | undefined> {
  try {
    return await context.repositoryIfAny();
  } catch {
    return undefined;
  }
}

/** Settings that are part of every ref or commit of a session. */
const PREFIXES = ['agt.branchPrefix', 'agt.workPrefix'];
const FIXED_BY_SESSIONS = [...PREFIXES, 'agt.agentEmail'];

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
