/**
 * One call of git mode: the command line, the real git, and the repository and settings that the line leads to. Those
 * two are looked up when they are first needed, and only once: most commands need neither.
 */
import { resolve } from 'node:path';
import { localConfigPath } from '../config/local-config.ts';
import type { SettingName } from '../config/setting-table.ts';
import { type Settings, settingsReader, toSettings } from '../config/settings.ts';
import { parseWords } from '../config/values.ts';
import { type AgtError, attempt } from '../errors.ts';
import { type DiscoveredRepository, discoverRepository } from '../git/files/discover-repository.ts';
import { findGit } from '../git/run/find-git.ts';
import { captureGitSync, type GitOutput, queryGitSync } from '../git/run/run-sync.ts';
import { once } from '../once.ts';
import { type CommandLine, repositoryOptions, withoutPagerOptions } from './command-line/parse.ts';

/** The real git, in the directory and environment of the user. */
export interface GitAccess {
  /** Asks git something; nothing of it reaches the terminal. */
  ask(args: readonly string[], input?: string): GitOutput;
  /** Runs git on the user's terminal, and returns its standard output instead of showing it. */
  capture(args: readonly string[]): GitOutput;
}

export interface Invocation {
  readonly line: CommandLine;
  readonly git: GitAccess;
  readonly env: NodeJS.ProcessEnv;
  /** The directory in which git runs: absolute, with every `-C` applied. */
  readonly cwd: string;
  /** The repository that git finds from there. */
  readonly repository: DiscoveredRepository | undefined;
  /** With the defaults in place of what agt cannot use. */
  readonly settings: Settings;
  /** The settings of another repository. */
  settingsOf(commonDir: string): Settings;
  /** agt.refuse. */
  readonly refuses: readonly string[];
  /** Problems of the settings that were needed so far. */
  readonly problems: readonly SettingProblem[];
}

/** `name` is undefined if a whole file is the problem. */
export interface SettingProblem {
  readonly name: SettingName | undefined;
  readonly error: AgtError;
}

/** `path` is absolute. In place of a configured git that cannot be used, it is the one on PATH. @throws AgtError */
export function findRealGit(env: NodeJS.ProcessEnv) {
  const problems: SettingProblem[] = [];
  const note = (error: AgtError, name?: SettingName) => {
    if (!problems.some((known) => known.error.message === error.message)) problems.push({ name, error });
  };
  const readSettings = settingsReader(env, note);
  const values = readSettings(undefined);
  const settingNamed = (wanted: SettingName) => values.find(({ name }) => name === wanted);
  const gitPath = settingNamed('agt.gitPath');
  const configured = gitPath?.value === '' ? undefined : gitPath;
  const path = findGit({
    configured: configured && { path: configured.value, origin: configured.origin },
    env,
    onProblem: (error) => note(error, 'agt.gitPath'),
  });
  return { path, readSettings, problems, refuses: parseWords(settingNamed('agt.refuse')?.value ?? '') };
}

export function openInvocation(
  { path, readSettings, problems, refuses }: ReturnType<typeof findRealGit>,
  line: CommandLine,
  env: NodeJS.ProcessEnv,
): Invocation {
  const { directories, gitDir, bare } = repositoryOptions(line.globals);
  const cwd = once(() => directories.reduce((base, next) => resolve(base, next), currentDirectory()));
  const named = gitDir ?? env['GIT_DIR'] ?? (bare ? '.' : undefined);
  const repository = once(() =>
    discoverRepository(cwd(), named === undefined ? env : { ...env, GIT_DIR: named }),
  );
  let hasReadSettings = false;
  const settingsOf = (commonDir: string | undefined) => {
    hasReadSettings = true;
    const values = readSettings(commonDir === undefined ? undefined : localConfigPath(commonDir));
    return toSettings(values, (error, name) => problems.push({ name, error }));
  };
  const settings = once(() => settingsOf(repository()?.commonDir));
  const questionGlobals = withoutPagerOptions(line.globals);
  return {
    line,
    env,
    settingsOf,
    refuses,
    get problems() {
      return problems.filter(({ name }) => hasReadSettings || name === 'agt.gitPath');
    },
    git: {
      ask: (args, input) => queryGitSync(path, [...questionGlobals, ...args], env, input),
      capture: (args) => captureGitSync(path, [...line.globals, ...args], env),
    },
    get cwd() {
      return cwd();
    },
    get repository() {
      return repository();
    },
    get settings() {
      return settings();
    },
  };
}

/** In a directory that was deleted, git itself says so. */
function currentDirectory(): string {
  return attempt(() => process.cwd()) ?? '/';
}
