/** agt config: list, read and change settings. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { findKey, SETTING_KEYS, type SettingName } from '../../config/setting-table.ts';
import { globalConfigPath, readConfigFile, showValue, toSettings } from '../../config/settings.ts';
import { parseWords } from '../../config/values.ts';
import { AgtError, EXIT, usageError } from '../../errors.ts';
import { joinedValues } from '../../git/files/config-file.ts';
import { gitText, runGit } from '../../git/run/git.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { listRecords } from '../../session/record.ts';
import { didYouMean } from '../../similar.ts';
import { checkRecipients } from '../../travel/keys.ts';
import { isRemote } from '../../travel/remote.ts';
import { defineCommand, option } from '../command-line/command.ts';
import { type Context, requireGit } from '../context.ts';
import { table } from '../output/format.ts';

const KEY_ARGUMENT = option.required('name of the setting, such as agt.maxFileSize');

export const configList = defineCommand({
  usage: 'config list',
  summary: 'list all settings, their values and origins',
  options: option.shared('json'),
  examples: [['agt config list', 'list the settings for this repository']],
  run: async (_, context) => {
    const values = await context.settingValues();
    const rows = values.map(({ name, value, origin }) => [name, showValue(name, value), origin]);
    return { json: values, text: table(rows) };
  },
});

export const configGet = defineCommand({
  usage: 'config get <key>',
  summary: 'print the value of a setting',
  positionals: { key: option.required('name of the setting, such as agt.agentEmail') },
  options: option.shared('json'),
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

export const configSet = defineCommand({
  usage: 'config set <key> <value>',
  summary: 'change a setting of this repository, or of all (--global)',
  positionals: { key: KEY_ARGUMENT, value: option.required('new value') },
  options: { global: option.flag('write to ~/.agtconfig, for all repositories') },
  examples: [
    ['agt config set agt.maxFileSize 2g', 'change the limit for this repository'],
    ['agt config set --global agt.gitPath /usr/bin/git', 'set the real git for all repositories'],
  ],
  run: async ({ key, value, global }, context) => {
    const { name, isList } = await requireValid('set', key, value, global, context);
    const others = (await context.settingValues()).filter((setting) => setting.name !== name);
    toSettings([...others, { name: name as SettingName, value, origin: 'the command line' }]); // throws if the prefixes overlap
    const file = await settingsFile(context, name, global);
    const before = isList ? joinedValues(readConfigFile(file), name) : undefined;
    await write(context, file, '--replace-all', name, value);
    if (before && before !== value) {
      const add = `agt config add ${global ? '--global ' : ''}${name}`;
      context.err(`note: it replaces ${before}\nhint: to have both: ${add} ${shellQuote(before)}\n`);
    }
    const counts = (await context.settingValues()).find((setting) => setting.name === name);
    const isHidden = global && counts !== undefined && counts.origin !== file && counts.value !== value;
    const here = isHidden ? `note: here counts ${counts.value}, from ${counts.origin}\n` : '';
    const change = `note: to change that: agt config set ${name} ${value}\n`;
    const local = isHidden && (await context.repositoryIfAny())?.configFile === counts.origin;
    context.err(here + (local ? change : ''));
    return EXIT.done;
  },
});

export const configAdd = defineCommand({
  usage: 'config add <key> <value>',
  summary: 'add to a setting that is a list, such as agt.recipients',
  positionals: {
    key: option.required('name of the setting, such as agt.recipients'),
    value: option.required('what to add'),
  },
  options: { global: option.flag('write to ~/.agtconfig, for all repositories') },
  examples: [['agt config add --global agt.refuse push:main', 'refuse one more command line to agents']],
  run: async ({ key, value, global }, context) => {
    const { name, isList } = await requireValid('add', key, value, global, context);
    if (!isList)
      throw usageError(`${name} has one value`, `change it: agt config set ${name} ${shellQuote(value)}`);
    const file = await settingsFile(context, name, global);
    const known = parseWords(joinedValues(readConfigFile(file), name) ?? '');
    const added = parseWords(value).filter((word) => !known.includes(word));
    if (added.length > 0) await write(context, file, '--add', name, added.join(' '));
    return EXIT.done;
  },
});

/** @throws AgtError if agt would not act on the value in that file */
async function requireValid(verb: string, key: string, value: string, global: boolean, context: Context) {
  const setting = requireKey(key);
  const { name, check, globalOnly } = setting;
  const problem = check(value);
  if (problem !== undefined) throw usageError(`invalid value "${value}" for ${name}: ${problem}`);
  if (globalOnly && !global) {
    throw usageError(
      `${name} cannot be set for one repository`,
      `set it for all: agt config ${verb} --global ${name} ${shellQuote(value)}`,
    );
  }
  if (name === 'agt.push' && !global && value !== '' && !(await isRemote(await context.git(), value)))
    throw new AgtError(`there is no remote "${value}" here`, {
      hints: ['see: git remote -v', `or add it: git remote add ${value} URL`],
    });
  if (name === 'agt.gitPath' && value !== '') await requireGit(value, context);
  if (name === 'agt.recipients') await checkRecipients(parseWords(value));
  return setting;
}

/** git locks the file and keeps its comments. */
async function write(context: Context, file: string, way: '--add' | '--replace-all', ...words: string[]) {
  mkdirSync(dirname(file), { recursive: true });
  await gitText(await context.git(), ['config', '--file', file, way, ...words]);
}

/** git-config's exit code for a name that the file does not have. */
const NOT_FOUND = 5;

export const configUnset = defineCommand({
  usage: 'config unset <key>',
  summary: 'remove a setting of this repository, or of all (--global)',
  positionals: { key: KEY_ARGUMENT },
  options: { global: option.flag('remove it from ~/.agtconfig') },
  examples: [
    ['agt config unset agt.maxFileSize', 'go back to the limit of ~/.agtconfig, or to the default'],
    ['agt config unset --global agt.gitPath', 'let agt search PATH for git'],
  ],
  run: async (args, context) => {
    const { name } = requireKey(args.key);
    const file = await settingsFile(context, name, args.global);
    const words = ['config', '--file', file, '--unset-all', name];
    const { exitCode, stderr } = await runGit(await context.git(), words);
    if (exitCode === NOT_FOUND || !existsSync(file)) {
      const all = await context.settingValues();
      const origin = all.find((setting) => setting.name === name)?.origin ?? 'default';
      throw new AgtError(
        origin === 'default' ? `${name} is not set` : `${name} is not set in ${file}, but in ${origin}`,
        { hints: origin === globalConfigPath(context.env) ? [`agt config unset --global ${name}`] : [] },
      );
    }
    if (exitCode !== EXIT.done)
      throw new AgtError(`cannot change ${file}: ${stderr.trim()}`, { hints: ['correct the file by hand'] });
    return EXIT.done;
  },
});

/** @throws AgtError if there is no setting of that name. */
function requireKey(name: string): NonNullable<ReturnType<typeof findKey>> {
  const key = findKey(name);
  if (key !== undefined) return key;
  const known = SETTING_KEYS.map((setting) => setting.name);
  throw usageError(
    `unknown setting "${name}"`,
    ...didYouMean(name, known),
    `known settings: ${known.join(', ')}`,
  );
}

/** Settings that are part of every ref or commit of a session. */
const PREFIXES = ['agt.branchPrefix', 'agt.workPrefix'];
const FIXED_BY_SESSIONS = [...PREFIXES, 'agt.agentEmail'];

/** @throws AgtError if the sessions of the repository do not allow a new value. */
async function settingsFile(context: Context, name: string, global: boolean): Promise<string> {
  if (global) return globalFile(context, name);
  const repository = await context.repository();
  const { length } = listRecords(repository).records;
  // A setting that agt cannot use named no ref and no commit.
  const isUsed = !context.settingProblems().some((problem) => problem.message.includes(name));
  if (FIXED_BY_SESSIONS.includes(name) && isUsed && length > 0) {
    throw new AgtError(`${name} cannot be changed while this repository has sessions (${length})`, {
      hints: ['remove them first: agt session remove <id> --delete-branch'],
    });
  }
  return repository.configFile;
}

async function globalFile(context: Context, name: string): Promise<string> {
  const file = globalConfigPath(context.env);
  if (file === undefined)
    throw new AgtError('cannot find ~/.agtconfig: HOME is not set', { hints: ['set HOME'] });
  if (!PREFIXES.includes(name)) return file;
  // A setting of all repositories can be changed in any place, whatever is wrong with it.
  const repository = await context.repositoryIfAny().catch(() => undefined);
  const sessions = repository === undefined ? 0 : listRecords(repository).records.length;
  if (sessions > 0)
    context.err(
      `note: existing sessions keep the names of their branches, which stay hidden (${sessions} here)\n`,
    );
  return file;
}
