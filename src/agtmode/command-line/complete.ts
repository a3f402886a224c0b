/** Completion in a shell: what may stand in place of the last word of a command line. */
import { readdirSync } from 'node:fs';
import { delimiter } from 'node:path';
import { findKey, SETTING_KEYS } from '../../config/setting-table.ts';
import { attempt } from '../../errors.ts';
import { isActive } from '../../filter/session-file.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { askGitSync } from '../../git/run/run-sync.ts';
import { INTEGRATIONS } from '../../integrations/tools.ts';
import type { Repository } from '../../repository/repository.ts';
import { AGENT_STATES } from '../../session/agent-state.ts';
import { listRecords } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { SESSION_STATES } from '../../session/state.ts';
import { readAuthors } from '../../timetravel/turns.ts';
import { besideGit, optionsBesideGit } from '../beside-git.ts';
import { COMMANDS, SHORT_FORMS } from '../commands/index.ts';
import type { Context } from '../context.ts';
import { sessionIfAny } from '../session-here.ts';
import { type Command, commandName, findCommand } from './command.ts';

const NAMES = COMMANDS.map((command) => commandName(command).split(' '));

/** `given` begins with `agt`; its last word is the one to complete, and may be empty. */
export async function complete(given: readonly string[], context: Context): Promise<string[]> {
  const line = joinAssignments(given.slice(1));
  const current = line.at(-1) ?? '';
  const before = line.slice(0, -1);
  const found = await candidates(expand(before), current, context);
  return [...new Set(found)].filter((word) => word.startsWith(current)).sort();
}

/** bash takes `--state=failed` for three words. */
function joinAssignments(line: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of line) {
    const last = joined.at(-1);
    const goesOn = word === '=' ? /^--[a-z-]+$/.test(last ?? '') : /^--[a-z-]+=$/.test(last ?? '');
    if (goesOn) joined[joined.length - 1] = last + word;
    else joined.push(word);
  }
  return joined;
}

function expand(before: readonly string[]): string[] {
  const line = before[0] === '-C' ? before.slice(2) : [...before];
  if (line[0] === 'cd') return ['session', 'path', ...line.slice(1)];
  return SHORT_FORMS.has(line[0] ?? '') ? ['session', ...line] : (besideGit(line) ?? line);
}

async function candidates(before: readonly string[], current: string, context: Context) {
  const command = findCommand(COMMANDS, before);
  if (command === undefined) {
    if (before.length === 0 || (before.length === 1 && before[0] === 'help'))
      return [...NAMES.map(([first = '']) => first), ...SHORT_FORMS, 'help', 'git', 'cd'];
    return [...secondWords(before), ...optionsBesideGit(before[0] ?? '')];
  }
  // The shell itself completes files.
  if (before.includes('--'))
    return command.takesRest === 'command' && before.at(-1) === '--' ? programs(current, context) : [];
  const rest = before.slice(commandName(command).split(' ').length);
  const assigned = /^(--[a-z-]+)=/.exec(current)?.[1];
  if (assigned !== undefined) {
    const values = await valuesOf(assigned.slice(2), command, rest, context);
    return values.map((value) => `${assigned}=${value}`);
  }
  const option = valueOption(command, rest.at(-1));
  if (option !== undefined) return valuesOf(option, command, rest, context);
  const { options = {} } = command;
  if (current.startsWith('-'))
    return [...Object.keys(options).filter((name) => options[name]?.hidden !== true), 'help'].map((name) =>
      name.length === 1 ? `-${name}` : `--${name}`,
    );
  const positionals = [...command.usage.matchAll(/[[<]([a-z]+)/g)].map(([, name = '']) => name);
  const given = positionalsIn(command, rest);
  const isRepeated = command.usage.endsWith('..]');
  const next = positionals.slice(isRepeated ? Math.min(given.length, positionals.length - 1) : given.length);
  // The session may be left out.
  const names = next.slice(0, next[0] === 'id' ? 2 : 1);
  const values = await Promise.all(names.map((name) => valuesOf(name, command, rest, context)));
  const open = isRepeated ? values.flat().filter((value) => !given.includes(value)) : values.flat();
  return [...secondWords(before), ...open];
}

/** The words that may follow the first one, for commands of two words. */
function secondWords(before: readonly string[]): string[] {
  if (before.length !== 1) return [];
  return NAMES.flatMap(([first, second]) => (first === before[0] && second !== undefined ? [second] : []));
}

/** The option that the last word before the current one gives, if it takes a value. */
function valueOption({ options = {} }: Command, word: string | undefined): string | undefined {
  const found = Object.entries(options).find(
    ([name, { alias }]) => word === `--${name}` || (alias !== undefined && word === `-${String(alias)}`),
  );
  return found === undefined || found[1].type === 'boolean' ? undefined : found[0];
}

function positionalsIn(command: Command, rest: readonly string[]): string[] {
  return rest.filter((word, i) => !word.startsWith('-') && valueOption(command, rest[i - 1]) === undefined);
}

/** Without a letter, bash would quote thousands, one by one. */
function programs(current: string, { env }: Context): string[] {
  const directories = current === '' ? [] : (env['PATH'] ?? '').split(delimiter);
  return directories.flatMap((directory) => attempt(() => readdirSync(directory)) ?? []);
}

const SNAPSHOTS = ['snapshot', 'to', 'at', 'a', 'b'];
const BRANCHES = ['from', 'onto'];

/** `name` is that of an option or an argument. */
async function valuesOf(name: string, command: Command, rest: readonly string[], context: Context) {
  const { choices } = { ...command.positionals?.[name], ...command.options?.[name] };
  if (choices !== undefined) return choices.map(String);
  if (name === 'key') return SETTING_KEYS.map((key) => key.name);
  if (name === 'value') return [...(findKey(positionalsIn(command, rest)[0] ?? '')?.choices ?? [])];
  if (name === 'tools' || name === 'tool') return INTEGRATIONS.map((integration) => integration.name);
  if (name === 'state') return [...SESSION_STATES, 'running', ...AGENT_STATES];
  const repository = await context.repositoryIfAny().catch(() => undefined);
  const records = repository === undefined ? [] : listRecords(repository).records;
  const ids = records.map((record) => record.session_id as string);
  const fits = command.only?.fits ?? (NEED_FOLDER.test(commandName(command)) ? isActive : () => true);
  if (['id', 'ids', 'session', 'with'].includes(name))
    return records.filter(fits).map((record) => record.session_id);
  if (repository !== undefined && name === 'remote') return linesOf(repository, ['remote']);
  if (repository !== undefined && BRANCHES.includes(name))
    return [...branches(repository), ...(name === 'from' ? ids : [])];
  const isTurn = name === 'turn' || (name === 'count' && rest.includes('--turn'));
  if (!SNAPSHOTS.includes(name) && name !== 'agent' && !isTurn) return [];
  const named = [...positionalsIn(command, rest), rest[rest.indexOf('--session') + 1]];
  const record = records.find(({ session_id: id }) => named.includes(id));
  const session = repository && record ? new Session(repository, record) : await sessionIfAny(context);
  if (session === undefined) return [];
  if (isTurn) return (await readAuthors(session)).turns.slice(-NUMBERED).map(({ number }) => String(number));
  const history = await session.history();
  if (name === 'agent') return history.flatMap(({ agent }) => agent ?? []);
  const labels = history.flatMap(({ label }) => label ?? []);
  return [...labels, ...history.slice(0, NUMBERED).map((_, i) => `@{${i}}`)];
}

/** How many turns and how many snapshots without a label completion offers. */
const NUMBERED = 10;

/** Commands that need the folder of a session. */
const NEED_FOLDER = /^(autocommit|session (accept|reject|sync|export|run|exec|env|record|fail|open|path))$/;

function branches(repository: Repository): string[] {
  return linesOf(repository, ['for-each-ref', '--format=%(refname)', 'refs/heads/', 'refs/tags/'])
    .map((ref) => shortBranch(ref).replace(/^refs\/tags\//, ''))
    .filter((name) => !repository.prefixes.some((prefixes) => name.startsWith(prefixes.branchPrefix)));
}

function linesOf({ git }: Repository, args: readonly string[]): string[] {
  return askGitSync(git, args)?.toString().split('\n').filter(Boolean) ?? [];
}
