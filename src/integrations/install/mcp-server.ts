/** `agt mcp` as a server in the settings of an agent, which names it "agt". Edits of the text, as for the hooks. */
import { AgtError } from '../../errors.ts';
import { objectOf } from '../event.ts';
import { edit, type Jsonc, objectIn } from './json-hooks.ts';
import type { HookSettings } from './settings.ts';

const NAME = 'agt';

/** The settings with the server, which the command line `words` starts. */
export type ServerSettings = (words: readonly string[]) => HookSettings;

/** `{ "mcpServers": { "agt": { "command": …, "args": … } } }` */
export const mcpServers = jsonServer('mcpServers', ([command = '', ...args]) => ({ command, args }));

export function jsonServer(list: string, entryOf: (words: readonly string[]) => object): ServerSettings {
  const serverIn = (jsonc: Jsonc, text: string) => objectOf(objectIn(jsonc, text), list)[NAME];
  const isOurs = (server: unknown) => /"mcp"\]/.test(JSON.stringify(server) ?? '');
  return (words) => ({
    add: async (text = '') => {
      const jsonc = await import('jsonc-parser');
      const wanted = JSON.stringify(entryOf(words));
      const there = serverIn(jsonc, text);
      if (JSON.stringify(there) === wanted) return text;
      if (there !== undefined && !isOurs(there))
        throw new AgtError(`it has a server "${NAME}" that agt has not written`);
      const after = edit(jsonc, text.trim() === '' ? '{}\n' : text, [list, NAME], entryOf(words));
      if (JSON.stringify(serverIn(jsonc, after)) === wanted) return after;
      throw new AgtError(`perhaps "${list}" is there twice`);
    },
    remove: async (text) => {
      const jsonc = await import('jsonc-parser');
      if (!isOurs(serverIn(jsonc, text))) return text;
      const isLast = Object.keys(objectOf(objectIn(jsonc, text), list)).length === 1;
      const left = edit(jsonc, text, isLast ? [list] : [list, NAME], undefined);
      return /^\s*\{\s*\}\s*$/.test(left) ? undefined : left;
    },
    empty: '{}\n',
    find: async (text) => {
      const server = serverIn(await import('jsonc-parser'), text);
      return isOurs(server) ? JSON.stringify(server) : undefined;
    },
  });
}

/** The table and those below it. */
const TABLE = /^\[mcp_servers\.agt(?:\.[^\]\n]*)?\]\n(?:(?!\s*(?:[#[]|$)).*(?:\n|$))*/gm;

/** A table of config.toml. */
export const tomlServer: ServerSettings = ([command = '', ...args]) => {
  const remove = (text: string) => text.replace(TABLE, '');
  return {
    add: async (text = '') => {
      if (/^\s*mcp_servers\s*[=.]|^\s*\[\s*mcp_servers\s*\]/m.test(text))
        throw new AgtError('it has "mcp_servers" in a form that agt does not edit');
      const others = remove(text);
      const end = others === '' || others.endsWith('\n') ? others : `${others}\n`;
      // A text and a list in JSON are TOML as well.
      return `${end}[mcp_servers.agt]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`;
    },
    remove: async (text) => remove(text) || undefined,
    find: async (text) => text.match(TABLE)?.[0],
  };
};
