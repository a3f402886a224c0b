/**
 * The settings of agt, and where each value comes from. Later sources win: the default, the user's `~/.agtconfig`, the
 * repository's own file, the environment. A `.agt/config` inside a worktree is no source, because anybody who can push
 * to the repository can write one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError, errorCode, systemReason } from '../errors.ts';
import { type ConfigEntry, lastValue, parseGitConfig } from '../git/files/config-file.ts';
import { shellQuote } from '../git/run/trace.ts';
import { SETTING_KEYS, type SettingKey, type SettingName } from './keys.ts';
import { parseBoolean, parseRetention, parseSize } from './values.ts';

export interface Settings {
  /** Empty: search PATH. */
  readonly gitPath: string;
  readonly agentEmail: string;
  readonly branchPrefix: string;
  readonly workPrefix: string;
  /** Bytes. */
  readonly maxFileSize: number;
  /** Seconds; Infinity to keep snapshots for good. */
  readonly retention: number;
  /** Bytes; undefined for no limit. */
  readonly budget: number | undefined;
  readonly guard: boolean;
}

export interface SettingValue {
  readonly name: SettingName;
  readonly value: string;
  /** `default`, `environment AGT_…`, or the path of a file. */
  readonly origin: string;
}

export interface ConfigFiles {
  /** The user's own file; undefined without a HOME. */
  readonly global: string | undefined;
  /** The repository's file; undefined outside a repository. */
  readonly local: string | undefined;
}

type Key = SettingKey & { name: SettingName };

export const ALL_KEYS: readonly Key[] = SETTING_KEYS;
const GIT_MODE_KEYS = ALL_KEYS.filter(({ agtModeOnly }) => agtModeOnly !== true);

export function globalConfigPath(env: NodeJS.ProcessEnv): string | undefined {
  return env['HOME'] ? join(env['HOME'], '.agtconfig') : undefined;
}

/** @throws AgtError for a file that agt cannot read or parse, and for a value that is not valid. */
export function readSettingValues(
  files: ConfigFiles,
  env: NodeJS.ProcessEnv,
  keys: readonly Key[] = GIT_MODE_KEYS,
): SettingValue[] {
  return valuesFrom([readLayer(files.global), readLayer(files.local)], env, keys);
}

function valuesFrom(layers: Layers, env: NodeJS.ProcessEnv, keys: readonly Key[]): SettingValue[] {
  return keys.map((key) => fromEnvironment(key, env) ?? fromFiles(key, layers) ?? defaultOf(key));
}

/** The settings that agt mode runs with. @throws as readSettingValues. */
export function readSettings(files: ConfigFiles, env: NodeJS.ProcessEnv): Settings {
  return toSettings(readSettingValues(files, env, ALL_KEYS));
}

/** @throws AgtError if the two prefixes overlap. */
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
  };
  const { branchPrefix, workPrefix } = settings;
  if (branchPrefix.startsWith(workPrefix) || workPrefix.startsWith(branchPrefix)) {
    throw new AgtError(`agt.branchPrefix "${branchPrefix}" and agt.workPrefix "${workPrefix}" overlap`, {
      hints: ['neither prefix may start with the other'],
    });
  }
  return settings;
}

/** An empty variable counts as unset. */
function fromEnvironment(key: Key, env: NodeJS.ProcessEnv): SettingValue | undefined {
  const value = key.env === undefined ? undefined : env[key.env];
  if (!value) return undefined;
  const hint = `set ${key.env} to another value, or unset it`;
  return checked(key, { name: key.name, value, origin: `environment ${key.env}` }, hint);
}

/** The repository's file wins over the user's. */
function fromFiles(key: Key, [global, local]: Layers): SettingValue | undefined {
  for (const layer of key.globalOnly ? [global] : [local, global]) {
    const value = layer === undefined ? undefined : lastValue(layer.entries, key.name);
    if (layer === undefined || value === undefined) continue;
    // By git itself: "agt config set" reads the settings first, and would fail on the wrong value.
    const hint = `go back to the default: git config --file ${shellQuote(layer.path)} --unset-all ${key.name}`;
    return checked(key, { name: key.name, value, origin: layer.path }, hint);
  }
  return undefined;
}

function defaultOf({ name, defaultValue }: Key): SettingValue {
  return { name, value: defaultValue, origin: 'default' };
}

function checked(key: Key, setting: SettingValue, hint: string): SettingValue {
  const problem = key.check(setting.value);
  if (problem === undefined) return setting;
  throw new AgtError(`invalid value "${setting.value}" for ${key.name} (${setting.origin}): ${problem}`, {
    hints: [hint],
  });
}

interface Layer {
  readonly path: string;
  readonly entries: readonly ConfigEntry[];
}

type Layers = readonly [global: Layer | undefined, local: Layer | undefined];

/** Undefined if there is no such file. */
function readLayer(path: string | undefined): Layer | undefined {
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
