/** An agent that loads a program: the whole file is agt's. */
import { AgtError } from '../../errors.ts';
import { callsHook, type HookSettings } from './settings.ts';

const MARK = '// agt hooks install has written this file, and agt hooks uninstall deletes it.\n';

/** Stands in the program for the command that calls `agt hook`, as a JavaScript string. */
export const COMMAND = '__AGT_COMMAND__';

export function ownFile(tool: string, program: string): HookSettings {
  const commandIn = (text: string) => {
    for (const [string] of text.matchAll(/"(?:[^"\\\n]|\\.)*"/g)) {
      const value = parseString(string);
      if (callsHook(value, tool)) return value;
    }
    return undefined;
  };
  return {
    add: async (text, command) => {
      if (text !== undefined && !text.startsWith(MARK))
        throw new AgtError('agt has not written the file that is there');
      return MARK + program.replace(COMMAND, () => JSON.stringify(command));
    },
    remove: async () => undefined,
    find: async (text) => (text.startsWith(MARK) ? commandIn(text) : undefined),
  };
}

function parseString(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
