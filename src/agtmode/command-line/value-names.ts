/** The names of the values that options take, for help and manual page: `--turn <n>`. */
import type { Command, OptionTable } from './command.ts';

const NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    id: 'session id as with',
    snapshot: 'at to step unchanged-since',
    time: 'since until prune timestamp',
    n: 'number turn depth port jobs count pr',
    seconds: 'debounce idle every interval wait',
    text: 'label message summary reason text template',
    name: 'agent tool profile conversation',
    path: 'path seen reject new dir',
    branch: 'branch onto',
    glob: 'include exclude',
    command: 'to-green',
    start: 'from',
    file: 'file export',
    folders: 'siblings',
    commit: 'commits keep',
    expression: 'regex',
    lines: 'L',
    key: 'sort',
    ...{ 'call-id': 'call-id', filter: 'filter', hunk: 'hunk', remote: 'remote', state: 'state' },
  }).flatMap(([name, options]) => options.split(' ').map((option) => [option, name])),
);

type Option = OptionTable[string];

/** Undefined for a flag. */
export function valueName(name: string, option: Option): string | undefined {
  if (option.choices !== undefined) return option.choices.join('|');
  if (option.type === 'boolean') return option.valueName;
  return option.valueName ?? NAMES[name] ?? 'value';
}

/** yargs knows types alone: `[string]` becomes `[id]`. Arguments have their names already. */
export function withValueNames(help: string, { options = {} }: Command): string {
  let option: Option | undefined;
  let name = '';
  return help
    .split('\n')
    .flatMap((line) => {
      name = /^ {2,6}(?:-\w, )?--?([\w-]+)/.exec(line)?.[1] ?? name;
      option = options[name];
      const [, text, type, rest = ''] =
        /^(.*?) *\[(string|array|boolean)\](?: \[default: \[\]\])?(.*)$/.exec(line) ?? [];
      const isFlag = type === 'boolean' && option?.valueName === undefined;
      if (text === undefined || type === undefined || isFlag) return [line];
      const value = option === undefined || option.choices !== undefined ? '' : valueName(name, option);
      const label = `${value && `[${value}${type === 'array' && option?.nargs !== 1 ? '...' : ''}]`}${rest.replace(' [default: false]', '')}`;
      if (label === '') return text.trim() === '' ? [] : [text];
      const width = Math.max(
        line.length - text.length,
        text.trim() === '' ? 0 : label.trimStart().length + 1,
      );
      return [text + label.trimStart().padStart(width)];
    })
    .join('\n');
}
