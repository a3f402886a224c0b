/**
 * The settings of agt, and where each value comes from. Later sources win: the default, the user's `~/.agtconfig`,
 * the repository's own file, the environment. A `.agt/config` inside a worktree is no source, because anybody who can
 * push to the repository can write one.
 */
import { join } from 'node:path';
import { readRegularFile, statOrUndefined } from '../disk/read-file.ts';
import { AgtError, errorCode, systemReason } from '../errors.ts';
import type { Prefixes } from '../filter/agent-refs.ts';
import { type ConfigEntry, joinedValues, lastValue, parseGitConfig } from '../git/files/config-file.ts';
import { once } from '../once.ts';
import { findKey, SETTING_KEYS, type SettingName } from './setting-table.ts';
import { parseBoolean, type SettingKey } from './values.ts';

type Property<Name> = Name extends `${string}.${infer Last}` ? Last : never;

/** By the last part of their names, as agt uses them. `guard` and `hooks` are false if `enabled` is. */
export type Settings = {
  readonly [K in (typeof SETTING_KEYS)[number] as Property<K['name']>]: ReturnType<K['parse']>;
};

export interface SettingValue {
  readonly name: SettingName;
  readonly value: string;
  /** `default`, `environment AGT_…`, or the path of a file. */
  readonly origin: string;
}

/** Is told of a setting, or without `name` a file, that agt cannot use. If it returns, the next source counts. */
export type OnProblem = (problem: AgtError, name?: SettingName) => void;

const refuse: OnProblem = (problem) => {
  throw problem;
};

export interface ConfigFiles {
  /** The user's own file; undefined without a HOME. */
  readonly global: string | undefined;
  /** The repository's file; undefined outside a repository. */
  readonly local: string | undefined;
}

type Key = SettingKey & { name: SettingName };

export const ALL_KEYS: readonly Key[] = SETTING_KEYS;
const GIT_MODE_KEYS = ALL_KEYS.filter(({ inGitMode }) => inGitMode === true);

export function globalConfigPath(env: NodeJS.ProcessEnv): string | undefined {
  return env['HOME'] ? join(env['HOME'], '.agtconfig') : undefined;
}

/** A problem is a file that agt cannot read or parse, or a value that is not valid. */
export function readSettingValues(
  files: ConfigFiles,
  env: NodeJS.ProcessEnv,
  keys: readonly Key[] = GIT_MODE_KEYS,
  onProblem: OnProblem = refuse,
): SettingValue[] {
  const layers = { global: readLayer(files.global, onProblem), local: readLayer(files.local, onProblem) };
  return valuesFrom(layers, env, keys, onProblem);
}

/** For git mode: reads the user's own file once. */
export function settingsReader(
  env: NodeJS.ProcessEnv,
  onProblem: OnProblem,
): (local: string | undefined) => SettingValue[] {
  const global = once(() => readLayer(globalConfigPath(env), onProblem));
  return (local) => {
    const layers = { global: global(), local: readLayer(local, onProblem) };
    return valuesFrom(layers, env, GIT_MODE_KEYS, onProblem);
  };
}

function valuesFrom(
  { global, local }: Readonly<Record<keyof ConfigFiles, Layer | undefined>>,
  env: NodeJS.ProcessEnv,
  keys: readonly Key[],
  onProblem: OnProblem,
): SettingValue[] {
  return keys.map((key) => {
    const sources = [
      fromEnvironment(key, env),
      key.globalOnly ? undefined : fromFile(key, local, 'agt config unset'),
      fromFile(key, global, 'agt config unset --global'),
    ];
    for (const source of sources.filter((one) => one !== undefined)) {
      const problem = problemOf(key, source);
      if (problem === undefined) return source.setting;
      onProblem(problem, key.name);
    }
    return { name: key.name, value: key.defaultValue, origin: 'default' };
  });
}

/** The settings that agt mode runs with. */
export function readSettings(files: ConfigFiles, env: NodeJS.ProcessEnv, onProblem?: OnProblem): Settings {
  return toSettings(readSettingValues(files, env, ALL_KEYS, onProblem), onProblem);
}

export const DEFAULT_PREFIXES: Prefixes = {
  branchPrefix: findKey('agt.branchPrefix')?.defaultValue ?? '',
  workPrefix: findKey('agt.workPrefix')?.defaultValue ?? '',
};

/** If the two prefixes overlap, that is a problem, and the default ones count. */
export function toSettings(values: readonly SettingValue[], onProblem: OnProblem = refuse): Settings {
  const parsed = SETTING_KEYS.map(({ name, defaultValue, parse }) => {
    const value = values.find((one) => one.name === name)?.value ?? defaultValue;
    return [name.slice(name.indexOf('.') + 1), parse(value)];
  });
  const all = Object.fromEntries(parsed) as Settings;
  const settings = { ...all, guard: all.enabled && all.guard, hooks: all.enabled && all.hooks };
  const { branchPrefix, workPrefix } = settings;
  if (!branchPrefix.startsWith(workPrefix) && !workPrefix.startsWith(branchPrefix)) return settings;
  const problem = `agt.branchPrefix "${branchPrefix}" and agt.workPrefix "${workPrefix}" overlap`;
  onProblem(
    new AgtError(problem, { hints: ['neither prefix may start with the other'] }),
    'agt.branchPrefix',
  );
  return { ...settings, ...DEFAULT_PREFIXES };
}

/** A value as lists show it. */
export function showValue(name: SettingName, value: string): string {
  return value || `(${findKey(name)?.emptyMeans ?? 'empty'})`;
}

/** A value, not checked yet, and how to get rid of it. */
interface Source {
  readonly setting: SettingValue;
  readonly hint: string;
}

/** An empty variable counts as unset. */
function fromEnvironment(key: Key, env: NodeJS.ProcessEnv): Source | undefined {
  const value = key.env === undefined ? undefined : env[key.env];
  if (!value) return undefined;
  const shown = key.envIsOff ? opposite(value) : value;
  const setting = { name: key.name, value: shown, origin: `environment ${key.env}` };
  return { setting, hint: `set ${key.env} to another value, or unset it` };
}

function opposite(value: string): string {
  const isOn = parseBoolean(value);
  return isOn === undefined ? value : String(!isOn);
}

function fromFile(key: Key, layer: Layer | undefined, unset: string): Source | undefined {
  const value = layer && (key.isList ? joinedValues : lastValue)(layer.entries, key.name);
  if (value === undefined) return undefined;
  const setting = { name: key.name, value, origin: layer?.path ?? '' };
  return { setting, hint: `go back to the default: ${unset} ${key.name}` };
}

function problemOf(key: Key, { setting, hint }: Source): AgtError | undefined {
  const problem = key.check(setting.value);
  if (problem === undefined) return undefined;
  return new AgtError(`invalid value "${setting.value}" for ${key.name} (${setting.origin}): ${problem}`, {
    hints: [hint],
  });
}

interface Layer {
  readonly path: string;
  readonly entries: readonly ConfigEntry[];
}

/** The entries of a settings file, none if there is no such file. @throws AgtError if agt cannot read or parse it. */
export function readConfigFile(path: string): readonly ConfigEntry[] {
  return readLayer(path, refuse)?.entries ?? [];
}

/** Undefined if there is no such file, and after a problem. */
function readLayer(path: string | undefined, onProblem: OnProblem): Layer | undefined {
  if (path === undefined || statOrUndefined(path)?.isCharacterDevice()) return undefined; // such as /dev/null
  let text: string;
  try {
    text = readRegularFile(path).toString();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return undefined;
    const reason = errorCode(error) === '' ? (error as Error).message : systemReason(error);
    const hints = ['make it a file that you may read, or move it away'];
    onProblem(new AgtError(`cannot read the settings in "${path}": ${reason}`, { hints, cause: error }));
    return undefined;
  }
  try {
    return { path, entries: parseGitConfig(text) };
  } catch (error) {
    const hints = ['correct the file: it must be in git-config syntax, see git-config(1)'];
    onProblem(new AgtError(`${path}: ${(error as Error).message}`, { hints, cause: error }));
    return undefined;
  }
}
