/** The environment of a command in a session: agt's git first on PATH, the variables of the profile, and the session's name. */
import { delimiter, join } from 'node:path';
import type { Variables } from '../config/profiles.ts';
import { REPOSITORY_VARIABLES } from '../git/run/environment.ts';
import { type SessionRecord, sessionFolder } from '../session/record.ts';

export interface EnvironmentChanges {
  readonly set: Variables;
  readonly unset: readonly string[];
}

export interface EnvironmentParts {
  /** The directory of agt's git; undefined if that is first on PATH already. */
  readonly gitDirectory: string | undefined;
  readonly profile: Variables;
  /** Where the command sees the sandbox; undefined for its own place. */
  readonly sandbox?: string | undefined;
}

export function sessionEnvironment(
  record: SessionRecord,
  { gitDirectory, profile, sandbox }: EnvironmentParts,
  env: NodeJS.ProcessEnv,
): EnvironmentChanges {
  const folder = sessionFolder(record);
  const places = {
    id: record.session_id,
    folder,
    sandbox: sandbox ?? record.checkout ?? record.sandbox,
    xdg: join(folder, 'xdg'),
    config: join(folder, 'config'),
    path: env['PATH'] ?? '',
  };
  const expanded = Object.fromEntries(
    Object.entries(profile).map(([name, value]) => [name, expand(value, places)]),
  );
  const path = expanded['PATH'] ?? env['PATH'] ?? '';
  return {
    set: {
      AGT_SESSION: record.session_id,
      AGT_SANDBOX: places.sandbox,
      ...expanded,
      PATH: gitDirectory === undefined ? path : `${gitDirectory}${delimiter}${path}`,
    },
    unset: REPOSITORY_VARIABLES.filter((name) => env[name] !== undefined && expanded[name] === undefined),
  };
}

/** The things that git does by itself after a commit or a fetch. */
const UPKEEP = [
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
] as const;

/**
 * Inside of a namespace nobody can write to the registrations of other worktrees, so a `git gc` fails there, and a later
 * command of the user would print why.
 */
export function withoutUpkeep(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const first = Number(env['GIT_CONFIG_COUNT'] ?? 0) || 0;
  const settings = UPKEEP.flatMap(([key, value], n) => [
    [`GIT_CONFIG_KEY_${first + n}`, key],
    [`GIT_CONFIG_VALUE_${first + n}`, value],
  ]);
  return { ...env, ...Object.fromEntries(settings), GIT_CONFIG_COUNT: String(first + UPKEEP.length) };
}

/** `{id}`, `{sandbox}` and so on; other braces stay as they are. */
function expand(value: string, places: Readonly<Record<string, string>>): string {
  return value.replace(/\{([a-z]+)\}/g, (whole, name: string) => places[name] ?? whole);
}

export function applyChanges(env: NodeJS.ProcessEnv, { set, unset }: EnvironmentChanges): NodeJS.ProcessEnv {
  const changed = { ...env, ...set };
  for (const name of unset) delete changed[name];
  return changed;
}
