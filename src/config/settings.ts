/**
 * What agt is configured to do, and where each value came from. Later wins: default, the user's `~/.agtconfig`, the
 * repository's own file, the environment. A `.agt/config` inside a worktree is never among them: it is content that
 * strangers wrote.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError, errorCode, systemReason } from '../errors.ts';
import { lastValue, parseGitConfig } from '../git/files/config-file.ts';
import { SETTING_KEYS, type SettingKey, type SettingName } from './keys.ts';
import { parseBoolean, parseRetention, parseSize } from './values.ts';

export interface Settings {
  /** Empty: look on PATH. */
  readonly gitPath: string;
  readonly agentEmail: string;
  readonly branchPrefix: string;
  readonly workPrefix: string;
  /** Bytes. */
  readonly maxFileSize: number;
  /** Seconds; Infinity where nothing is ever dropped. */
  readonly retention: number;
  /** Bytes; undefined where there is no limit. */
  readonly budget: number | undefined;
  readonly guard: boolean;
  readonly snapshots: string;
  readonly workingCopy: string;
}

export interface SettingValue {
  readonly name: SettingName;
  readonly value: string;
  /** `default`, `environment AGT_…`, or the file's path. */
  readonly origin: string;
}

export interface ConfigFiles {
  /** The user's own file, or undefined where there is no HOME. */
  readonly global: string | undefined;
  /** The repository's file, or undefined outside a repository. */
  readonly local: string | undefined;
}

export function globalConfigPath(env: NodeJS.ProcessEnv): string | undefined {
  return env['HOME'] ? join(env['HOME'], '.agtconfig') : undefined;
}

/** @throws AgtError for a file that cannot be read or parsed and for a value that cannot be used. */
export function readSettingValues(files: ConfigFiles, env: NodeJS.ProcessEnv): SettingValue[] {
  const layers = [readLayer(files.global), readLayer(files.local)];
  return SETTING_KEYS.map((key: SettingKey & { name: SettingName }) => {
    let found: SettingValue = { name: key.name, value: key.fallback, origin: 'default' };
    for (const [index, layer] of layers.entries()) {
      if (layer === undefined || (key.globalOnly && index > 0)) continue;
      const value = lastValue(layer.entries, key.name);
      if (value !== undefined) found = { name: key.name, value, origin: layer.path };
    }
    const fromEnv = key.env === undefined ? undefined : env[key.env];
    if (fromEnv) found = { name: key.name, value: fromEnv, origin: `environment ${key.env}` };
    const problem = key.check(found.value);
    if (problem !== undefined) {
      throw new AgtError(`invalid value "${found.value}" for ${key.name} (${found.origin}): ${problem}`, {
        hints: [`set another value: agt config set ${key.name} ${key.fallback || '<value>'}`],
      });
    }
    return found;
  });
}

export function toSettings(values: readonly SettingValue[]): Settings {
  const get = (name: SettingName) => values.find((value) => value.name === name)?.value ?? '';
  const settings: Settings = {
    gitPath: get('agt.gitPath'),
    agentEmail: get('agt.agentEmail'),
    branchPrefix: get('agt.branchPrefix'),
    workPrefix: get('agt.workPrefix'),
    maxFileSize: parseSize(get('agt.maxFileSize')) ?? 0,
    retention: parseRetention(get('agt.retention')) ?? Number.POSITIVE_INFINITY,
    guard: parseBoolean(get('agt.guard')) ?? true,
    budget: parseSize(get('agt.budget')),
    snapshots: get('fs.snapshots'),
    workingCopy: get('fs.workingCopy'),
  };
  const { branchPrefix, workPrefix } = settings;
  if (branchPrefix.startsWith(workPrefix) || workPrefix.startsWith(branchPrefix)) {
    throw new AgtError(`agt.branchPrefix "${branchPrefix}" and agt.workPrefix "${workPrefix}" overlap`, {
      hints: ['neither prefix may start with the other'],
    });
  }
  return settings;
}

export function readSettings(files: ConfigFiles, env: NodeJS.ProcessEnv): Settings {
  return toSettings(readSettingValues(files, env));
}

function readLayer(path: string | undefined) {
  if (path === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined;
    throw new AgtError(`cannot read the settings in "${path}": ${systemReason(error)}`, { cause: error });
  }
  try {
    return { path, entries: parseGitConfig(text) };
  } catch (error) {
    throw new AgtError(`${path}: ${(error as Error).message}`, {
      hints: ['the file must be in git-config syntax, see git-config(1)'],
      cause: error,
    });
  }
}
