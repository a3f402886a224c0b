/**
 * What a running command can reach: the clock, the environment, the streams, git, the repository. Everything that a
 * test may want to fix is a value here; git and the repository are looked for only when first asked for.
 */
import { isatty } from 'node:tty';
import {
  ALL_KEYS,
  globalConfigPath,
  readSettings,
  readSettingValues,
  type SettingValue,
} from '../config/settings.ts';
import { AgtError } from '../errors.ts';
import { findGit, ownFiles } from '../git/run/find.ts';
import { type Git, openGit, runGit } from '../git/run/git.ts';
import { type GitVersion, isAtLeast, OLDEST_GIT, parseGitVersion } from '../git/run/version.ts';
import { packed } from '../process/invocation.ts';
import { findRepository } from '../repository/find-repository.ts';
import { openRepository, type Repository } from '../repository/repository.ts';

export interface Context {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => Date;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** True where colour is welcome. */
  readonly colour: boolean;
  /** True where a question can be asked and answered. */
  readonly interactive: boolean;
  /** Absolute path of the real git, not yet tried. */
  readonly gitPath: () => string;
  /** The real git in the current folder, tried and old enough. */
  readonly git: () => Promise<Git>;
  readonly gitVersion: () => Promise<GitVersion>;
  /** @throws AgtError outside a repository. */
  readonly repository: () => Promise<Repository>;
  readonly repositoryIfAny: () => Promise<Repository | undefined>;
  /** Where each setting comes from, the repository's own file included when there is one. */
  readonly settingValues: () => Promise<SettingValue[]>;
}

export function openContext(cwd: string, env: NodeJS.ProcessEnv): Context {
  const globalFile = globalConfigPath(env);
  const gitPath = once(() => {
    const value = readSettingValues({ global: globalFile, local: undefined }, env).find(
      (setting) => setting.name === 'agt.gitPath',
    );
    const configured = value?.value ? { path: value.value, origin: value.origin } : undefined;
    return findGit({ configured, path: env['PATH'], self: ownFiles(packed) });
  });
  const probe = once(() => probeGit(openGit(gitPath(), cwd, env)));
  const git = async () => (await probe()).git;
  const repositoryIfAny = once(async () => {
    const untried = openGit(gitPath(), cwd, env);
    const found = await findRepository(untried, cwd);
    // A git that answers about a repository is one; where none answers, it may be no git at all.
    if (found === undefined) await probe();
    if (found === undefined) return undefined;
    return openRepository(untried, found, {
      env,
      read: (local) => readSettings({ global: globalFile, local }, env),
    });
  });
  return {
    cwd,
    env,
    now: () => new Date(),
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    colour: isatty(1) && env['NO_COLOR'] === undefined && env['TERM'] !== 'dumb',
    interactive: isatty(0) && isatty(2),
    gitPath,
    git,
    gitVersion: async () => (await probe()).version,
    repositoryIfAny,
    repository: async () => {
      const repository = await repositoryIfAny();
      if (repository !== undefined) return repository;
      throw new AgtError('not in a git repository or an agt clone', {
        hints: ['change to one, or create one: agt clone <url>'],
      });
    },
    settingValues: async () => {
      const repository = await repositoryIfAny();
      return readSettingValues({ global: globalFile, local: repository?.configFile }, env, ALL_KEYS);
    },
  };
}

async function probeGit(git: Git): Promise<{ git: Git; version: GitVersion }> {
  const run = await runGit(git, ['--version']);
  const version = parseGitVersion(run.stdout.toString());
  if (version === undefined) {
    throw new AgtError(
      `"${git.path}" is not git: --version printed "${run.stdout.toString().split('\n')[0]}"`,
      {
        hints: ['set the path of the real git: agt config set --global agt.gitPath <path> (or AGT_GIT_PATH)'],
      },
    );
  }
  if (!isAtLeast(version, OLDEST_GIT.major, OLDEST_GIT.minor)) {
    throw new AgtError(`git ${version.text} (${git.path}) is too old`, {
      hints: [`agt needs git ${OLDEST_GIT.major}.${OLDEST_GIT.minor} or newer`],
    });
  }
  return { git, version };
}

function once<T>(compute: () => T): () => T {
  let result: { value: T } | undefined;
  return () => {
    result ??= { value: compute() };
    return result.value;
  };
}
