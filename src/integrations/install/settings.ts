/** The settings of an agent as agt changes them: pure functions from text to text, for the file that holds the hooks. */
import { singleQuoted } from '../../git/run/trace.ts';

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
