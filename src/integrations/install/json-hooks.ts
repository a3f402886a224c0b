/**
 * Hooks in a settings file in JSON, in the shape that Claude Code has introduced: lists of groups by event. agt edits the
 * text, so comments, order and spaces stay. Its group comes last: some agents know hooks by their position.
 */
import type { FormattingOptions, JSONPath } from 'jsonc-parser';
import { AgtError } from '../../errors.ts';
import { type EventJson, objectOf } from '../event.ts';
import { callsHook, type HookSettings } from './settings.ts';

/** The hooks of agt for one agent. */
export interface JsonHooks {
  /** Its names of the events, in the order in which agt writes them. */
  readonly events: readonly string[];
  /** By event: matches the tools that the hook is for. Events of other kinds have none. */
  readonly matchers?: Readonly<Record<string, string>>;
  /** The agent expects these besides the command; 30 seconds are the default. */
  readonly fields?: (event: string) => object;
  /** False: each entry of an event is a command itself. */
  readonly hasGroups?: boolean;
  /** A new file; without it an empty object. */
  readonly start?: string;
  /** The name of the setting that switches the hooks off in such settings; undefined if none does. */
  readonly offSwitch?: (settings: EventJson) => string | undefined;
}

export type Jsonc = typeof import('jsonc-parser');

const LIST = 'hooks';

export function jsonHooks(hooks: JsonHooks): (tool: string) => HookSettings {
  return (tool) => ({
    add: async (text = '', command) => {
      const jsonc = await import('jsonc-parser');
      const wanted = hooks.events.map((event) => ({ event, group: groupFor(hooks, event, command) }));
      const without = removeGroups(jsonc, text, tool);
      const added = addGroups(jsonc, without.trim() === '' ? (hooks.start ?? '{}\n') : without, wanted);
      requireRead(jsonc, tool, { before: text, after: added, wanted });
      // The same hooks already, perhaps in other spaces.
      return JSON.stringify(settingsIn(jsonc, added)) === JSON.stringify(settingsIn(jsonc, text))
        ? text
        : added;
    },
    remove: async (text) => {
      const jsonc = await import('jsonc-parser');
      const left = removeGroups(jsonc, text, tool);
      requireRead(jsonc, tool, { before: text, after: left });
      return /^\s*(\{\s*\}\s*)?$/.test(left) ? undefined : left;
    },
    empty: '{}\n',
    find: async (text) => {
      const groups = groupsOf(settingsIn(await import('jsonc-parser'), text));
      return groups.flatMap(({ group }) => commandsOf(group)).find((command) => callsHook(command, tool));
    },
    switchedOffBy: async (text) => hooks.offSwitch?.(objectIn(await import('jsonc-parser'), text)),
  });
}

interface EventGroup {
  readonly event: string;
  readonly group: unknown;
}

const LONGEST_HOOK = () => ({ timeout: 30 });

function groupFor(
  { matchers = {}, fields = LONGEST_HOOK, hasGroups }: JsonHooks,
  event: string,
  command: string,
) {
  const matcher = event in matchers ? { matcher: matchers[event] } : {};
  if (hasGroups === false) return { ...matcher, command, ...fields(event) };
  return { ...matcher, hooks: [{ type: 'command', command, ...fields(event) }] };
}

function addGroups(jsonc: Jsonc, text: string, groups: readonly EventGroup[]): string {
  let changed = text;
  for (const { event, group } of groups) {
    const isThere = Array.isArray(settingsIn(jsonc, changed)[LIST]?.[event]);
    changed = isThere
      ? edit(jsonc, changed, [LIST, event, -1], group)
      : edit(jsonc, changed, [LIST, event], [group]);
  }
  return changed;
}

/**
 * An edit of the text may miss what a reader takes: of a key that is there twice, readers take the second.
 * @throws AgtError unless the text has exactly the wanted hooks of agt now, and everything else as before.
 */
function requireRead(
  jsonc: Jsonc,
  tool: string,
  { before, after, wanted = [] }: { before: string; after: string; wanted?: readonly EventGroup[] },
): void {
  const groupsIn = (text: string, areOurs: boolean) =>
    groupsOf(settingsIn(jsonc, text)).filter(({ group }) => callsAgt(group, tool) === areOurs);
  const sorted = (some: readonly EventGroup[]) =>
    JSON.stringify(some.map(({ event, group }) => JSON.stringify([event, group])).toSorted());
  const hasOurs = sorted(groupsIn(after, true)) === sorted(wanted);
  if (hasOurs && sorted(groupsIn(after, false)) === sorted(groupsIn(before, false))) return;
  throw new AgtError(
    `the hooks would not be as agt writes them; perhaps "${LIST}" or a part of it is there twice`,
  );
}

/** Lists that become empty go, too: agt has made them, or nobody misses them. */
function removeGroups(jsonc: Jsonc, text: string, tool: string): string {
  let changed = text;
  for (const { event, index, group } of groupsOf(settingsIn(jsonc, text)).reverse()) {
    if (!callsAgt(group, tool)) continue;
    const { [event]: list, ...others } = objectOf(objectIn(jsonc, changed), LIST);
    if (Array.isArray(list) && list.length > 1) changed = removeItem(jsonc, changed, [LIST, event], index);
    else {
      const emptied = Object.keys(others).length === 0 ? [LIST] : [LIST, event];
      changed = edit(jsonc, changed, emptied, undefined);
    }
  }
  return changed;
}

/** The library would also delete comments that follow. The list has other items. */
function removeItem(jsonc: Jsonc, text: string, path: JSONPath, index: number): string {
  const root = jsonc.parseTree(text, [], { allowTrailingComma: true });
  const items = (root && jsonc.findNodeAtLocation(root, path))?.children ?? [];
  const [before, item, after] = [items[index - 1], items[index], items[index + 1]];
  if (item === undefined) return text;
  const start = before === undefined ? item.offset : before.offset + before.length;
  const end = before === undefined && after !== undefined ? after.offset : item.offset + item.length;
  return text.slice(0, start) + text.slice(end);
}

/** The part of the settings that agt uses; `settingsIn` checks it. */
interface Settings {
  readonly hooks?: Readonly<Record<string, readonly unknown[]>>;
}

/** @throws AgtError unless the text is a JSON object. */
export function objectIn(jsonc: Jsonc, text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {};
  const errors: import('jsonc-parser').ParseError[] = [];
  const value: unknown = jsonc.parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split('\n').length;
    throw new AgtError(`line ${line} is not valid JSON: ${readable(jsonc.printParseErrorCode(error.error))}`);
  }
  if (isObject(value)) return value;
  throw new AgtError('it does not hold a JSON object');
}

function isObject(what: unknown): what is Record<string, unknown> {
  return typeof what === 'object' && what !== null && !Array.isArray(what);
}

/** @throws AgtError if the text is not what such settings are. */
function settingsIn(jsonc: Jsonc, text: string): Settings {
  const { [LIST]: hooks } = objectIn(jsonc, text);
  if (hooks === undefined) return {};
  if (!isObject(hooks)) throw new AgtError(`"${LIST}" is not an object there`);
  // Some agents have switches between them.
  const wrong = Object.entries(hooks).find(([, list]) => !Array.isArray(list) && typeof list !== 'boolean');
  if (wrong !== undefined) throw new AgtError(`"${LIST}.${wrong[0]}" is not a list there`);
  return {
    hooks: Object.fromEntries(Object.entries(hooks).filter(([, list]) => Array.isArray(list))),
  } as Settings;
}

/** `PropertyNameExpected`: `property name expected`. */
function readable(code: string): string {
  return code.replace(/(?!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase();
}

function groupsOf({ hooks = {} }: Settings) {
  return Object.entries(hooks).flatMap(([event, list]) =>
    list.map((group, index) => ({ event, index, group })),
  );
}

function callsAgt(group: unknown, tool: string): boolean {
  return commandsOf(group).some((command) => callsHook(command, tool));
}

function commandsOf(group: unknown): unknown[] {
  const { hooks, command } = (group ?? {}) as { hooks?: unknown; command?: unknown };
  return Array.isArray(hooks) ? hooks.flatMap(commandsOf) : [command];
}

export function edit(jsonc: Jsonc, text: string, path: JSONPath, value: unknown): string {
  const options = { formattingOptions: formatOf(text), isArrayInsertion: path.at(-1) === -1 };
  return jsonc.applyEdits(text, jsonc.modify(text, path, value, options));
}

/** As the rest of the file. */
function formatOf(text: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 4 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}
