/**
 * Profiles: variables for the agents of a session. They stand in the user's own settings files, never in a worktree,
 * because a variable such as PATH chooses which programs run:
 *
 *     [profile "claude"]
 *         env = CLAUDE_CONFIG_DIR={config}/claude
 *         env = XDG_DATA_HOME={xdg}
 */
import { AgtError } from '../errors.ts';
import { type ConfigFiles, readConfigFile } from './settings.ts';
import { parseBoolean } from './values.ts';

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** Whether the agent of this name has all its settings in the session. The file of the repository wins. */
export function isIsolated(files: ConfigFiles, name: string): boolean {
  const [last] = entriesOf(files, `profile.${name}.isolate`).slice(-1);
  if (last === undefined) return false;
  const value = parseBoolean(last.value);
  if (value !== undefined) return value;
  throw new AgtError(`invalid value "${last.value}" for profile.${name}.isolate (${last.path})`, {
    hints: ['it is true or false'],
  });
}

/** The variables of a profile; undefined if no file has it. Later lines, and the file of the repository, win. */
export function readProfile(files: ConfigFiles, name: string): Variables | undefined {
  const lines = entriesOf(files, `profile.${name}.env`);
  if (lines.length === 0) return undefined;
  return Object.fromEntries(lines.map(({ path, value }) => parseVariable(name, path, value)));
}

function entriesOf({ global, local }: ConfigFiles, key: string) {
  return [global, local].flatMap((path) =>
    (path === undefined ? [] : readConfigFile(path))
      .filter((entry) => entry.key === key)
      .map(({ value }) => ({ path: path ?? '', value })),
  );
}

function parseVariable(profile: string, path: string, line: string): [name: string, value: string] {
  const match = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(line);
  if (match !== null) return [match[1] ?? '', match[2] ?? ''];
  throw new AgtError(`invalid variable "${line}" in profile "${profile}" (${path})`, {
    hints: ['write it as NAME=VALUE, for example: env = XDG_DATA_HOME={xdg}'],
  });
}
