/** The settings of an agent as agt changes them: pure functions from text to text, for the file that holds the hooks. */
import { AgtError } from '../../errors.ts';
import { singleQuoted } from '../../process/shell-quote.ts';

export interface HookSettings {
  /** Undefined in place of a text: there is no such file. @throws AgtError if agt cannot change the text. */
  readonly add: (text: string | undefined, command: string) => Promise<string>;
  /** Undefined: nothing is left. */
  readonly remove: (text: string) => Promise<string | undefined>;
  /** A file in which nothing is left becomes this, unless agt has made it; undefined: it goes in any case. */
  readonly empty?: string;
  /** The command that the hooks of agt there call; undefined if there are none. */
  readonly find: (text: string) => Promise<string | undefined>;
  /** The setting there by which the user has switched the hooks off. */
  readonly switchedOffBy?: (text: string) => Promise<string | undefined>;
}

/** The shell command that calls `agt hook`. A path in quotes may contain anything. */
export function hookCommand(agt: readonly string[], { name, mustNotFail }: CalledAgent): string {
  return `${agt.map(singleQuoted).join(' ')} hook ${name}${mustNotFail === true ? NEVER_FAIL : ''}`;
}

interface CalledAgent {
  readonly name: string;
  readonly mustNotFail?: true;
}

const NEVER_FAIL = ' || true';

export function callsHook(command: unknown, tool: string): command is string {
  return typeof command === 'string' && command.replace(NEVER_FAIL, '').trim().endsWith(` hook ${tool}`);
}

const MARK = '// agt hooks install has written this file, and agt hooks uninstall deletes it.\n';

/**
 * For an agent that loads a program: the whole file is agt's, and its second line says which agt it calls. `program` makes
 * the text from the shell command that calls `agt hook`.
 */
export function ownFile(program: (command: string) => string): (tool: string) => HookSettings {
  return (tool) => ({
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
  });
}
