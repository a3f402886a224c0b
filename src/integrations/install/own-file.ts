/** An agent that loads a program: the whole file is agt's. Its second line says which agt it calls. */
import { AgtError } from '../../errors.ts';
import { callsHook, type HookSettings } from './settings.ts';

const MARK = '// agt hooks install has written this file, and agt hooks uninstall deletes it.\n';

/** `program` makes the text of the file from the shell command that calls `agt hook`. */
export function ownFile(tool: string, program: (command: string) => string): HookSettings {
  return {
    add: async (text, command) => {
      if (text !== undefined && !text.startsWith(MARK))
        throw new AgtError('agt has not written the file that is there');
      return `${MARK}// ${command}\n${program(command)}`;
    },
    remove: async () => undefined,
    find: async (text) => {
      if (!text.startsWith(MARK)) return undefined;
      const [, comment = ''] = text.split('\n');
      const command = comment.replace(/^\/\/ /, '');
      return callsHook(command, tool) ? command : undefined;
    },
  };
}
