/** The setting that a command names, and the settings file that it changes. */
import { findKey, SETTING_KEYS } from '../../../config/keys.ts';
import { globalConfigPath } from '../../../config/settings.ts';
import { AgtError, usageError } from '../../../errors.ts';
import { listRecords } from '../../../session/record.ts';
import { required } from '../../command-line/command.ts';
import { didYouMean } from '../../command-line/similar.ts';
import type { Context } from '../../context.ts';

export const KEY_ARGUMENT = required('name of the setting, such as agt.maxFileSize');

/** The key that the user named. @throws AgtError if there is none of that name. */
export function requireKey(name: string): NonNullable<ReturnType<typeof findKey>> {
  const key = findKey(name);
  if (key !== undefined) return key;
  const known = SETTING_KEYS.map((setting) => setting.name);
  throw usageError(
    `unknown setting "${name}"`,
    ...didYouMean(name, known),
    `known settings: ${known.join(', ')}`,
  );
}

/** @throws AgtError if the sessions of the repository do not allow a new value. */
export async function settingsFile(context: Context, name: string, global: boolean): Promise<string> {
  return global ? globalFile(context, name) : localFile(context, name);
}

async function globalFile(context: Context, name: string): Promise<string> {
  const file = globalConfigPath(context.env);
  if (file === undefined)
    throw new AgtError('cannot find ~/.agtconfig: HOME is not set', { hints: ['set HOME'] });
  // A setting of all repositories can be changed in any place, whatever is wrong with it.
  const repository = PREFIXES.includes(name)
    ? await context.repositoryIfAny().catch(() => undefined)
    : undefined;
  const sessions = repository === undefined ? 0 : listRecords(repository).records.length;
  if (sessions > 0)
    context.err(
      `note: existing sessions keep the names of their branches, which stay hidden (${sessions} here)\n`,
    );
  return file;
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
