/** The surroundings of a command; tests can set each part. agt looks for git when it is asked. */
import { existsSync } from 'node:fs';
import type { SettingName } from '../config/setting-table.ts';
import { ALL_KEYS, globalConfigPath, readSettings, readSettingValues } from '../config/settings.ts';
import { AgtError, attempt, isAgtError, visible } from '../errors.ts';
import { findGit } from '../git/run/find-git.ts';
import { type Git, openGit, runGit } from '../git/run/git.ts';
import { queryGitSync } from '../git/run/run-sync.ts';
import { type GitVersion, isAtLeast, OLDEST_GIT, parseGitVersion } from '../git/run/version.ts';
import { recordsDirectory } from '../layout.ts';
import { once } from '../once.ts';
import { isStartedByGuard } from '../process/invocation.ts';
import { READS_PROGRESS } from '../process/progress.ts';
import { isTerminal, type Text, writer } from '../process/streams.ts';
import { findRepository, isOutsideRepositories } from '../repository/find-repository.ts';
import { rememberRepository } from '../repository/known-repositories.ts';
import { openRepository } from '../repository/repository.ts';
import { advisedIn } from '../session/advised-commands.ts';

export interface Context extends Readonly<ReturnType<typeof openContext>> {
  /** The command is a prompt of an agent, and so has to be what it advises. */
  readonly isPrompt?: true;
  /** An operation on a session calls it at its end: an interrupt after that leaves nothing to do. */
  readonly completed?: () => void;
}

/** Lines without colours, which may have the names of files. */
const NOTICES = /^(?:warning|note|hint): [^\n]*/gm;

/** `tolerant`: for a command that mends settings, agt goes on with defaults in place of settings that it cannot use. */
export function openContext(cwd: string, env: NodeJS.ProcessEnv, tolerant = false) {
  const globalFile = globalConfigPath(env);
  const problems = new Map<string, AgtError>();
  const onProblem = tolerant ? (error: AgtError) => void problems.set(error.message, error) : undefined;
  const gitPath = once(() => findRealGit(globalFile, env, onProblem));
  const settingsWith = (local: string | undefined) =>
    readSettings({ global: globalFile, local }, env, onProblem);
  const probe = once(async () => {
    try {
      return await probeGit(openGit(gitPath(), cwd, env));
    } catch (error) {
      if (!isAgtError(error) || onProblem === undefined) throw error;
      onProblem(error);
      return probeGit(openGit(findGit({ env }), cwd, env));
    }
  });
  const repositoryIfAny = once(async () => {
    const git = tolerant ? (await probe()).git : openGit(gitPath(), cwd, env);
    const found = await findRepository(git, cwd);
    if (found === undefined) {
      // Perhaps the program that found no repository is not git.
      if (!isOutsideRepositories(cwd, git.env)) await probe();
      return undefined;
    }
    const repository = openRepository(git, found, settingsWith);
    if (existsSync(recordsDirectory(repository.agtDir))) rememberRepository(repository);
    return repository;
  });
  const settingValues = async () => {
    const repository = await (tolerant ? repositoryIfAny().catch(() => undefined) : repositoryIfAny());
    return readSettingValues({ global: globalFile, local: repository?.configFile }, env, ALL_KEYS, onProblem);
  };
  const printed = writer(2);
  const noticeOf = (line: string) => advisedIn(cwd, visible(line));
  return {
    cwd,
    env,
    now: () => new Date(),
    out: writer(1),
    err: (text: Text) => printed(typeof text === 'string' ? text.replace(NOTICES, noticeOf) : text),
    colour: once(() => attempt(() => wantsColour(gitPath(), cwd, env)) ?? false),
    /** Width of the terminal that shows standard output; undefined without one. */
    columns: isTerminal(1) ? process.stdout.columns : undefined,
    /** agt can ask a question and read the answer. */
    interactive: isTerminal(0) && isTerminal(2),
    /** Standard error is a terminal on which agt may overwrite a line, or a page that shows the line. */
    showsProgress:
      env[READS_PROGRESS] !== undefined ||
      (isTerminal(2) && env['TERM'] !== 'dumb' && !isStartedByGuard(env)),
    /** Absolute path of the real git, which has not run yet. */
    gitPath,
    /** The real git in the current directory, once agt has checked its version. */
    git: async () => (await probe()).git,
    gitVersion: async () => (await probe()).version,
    repositoryIfAny,
    /** @throws AgtError outside a repository, with these hints as well. */
    repository: async (...more: string[]) => (await repositoryIfAny()) ?? notInRepository(more),
    /** How agt reaches folders that are in no session (folders). */
    folderAccess: () => ({ git: openGit(gitPath(), cwd, env), env, readSettings: settingsWith }),
    /** All settings with their origins; in a repository, with its own. */
    settingValues,
    setting: async (wanted: SettingName) =>
      (await settingValues()).find(({ name }) => name === wanted)?.value,
    /** The faults in the settings read so far. Empty unless the command tolerates that: others end by it. */
    settingProblems: () => [...problems.values()],
  };
}

/** FORCE_COLOR and NO_COLOR decide, then git's color.ui. */
function wantsColour(git: string, cwd: string, env: NodeJS.ProcessEnv): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced) return !['0', 'false'].includes(forced);
  if (env['NO_COLOR']) return false;
  const words = ['-C', cwd, 'config', '--get-colorbool', 'color.ui', String(isTerminal(1))];
  return queryGitSync(git, words, env).stdout.trim() === 'true';
}

function notInRepository(more: readonly string[]): never {
  const hints = [
    'change to one, or make one: git init, or agt clone <url>',
    'without one, agt snapshot records a folder, and agt undo and agt restore go back',
    ...more,
  ];
  throw new AgtError('not in a git repository or an agt clone', { hints });
}

function findRealGit(
  global: string | undefined,
  env: NodeJS.ProcessEnv,
  onProblem?: (problem: AgtError) => void,
  ignoresShims = false,
): string {
  const values = readSettingValues({ global, local: undefined }, env, undefined, onProblem);
  const setting = values.find(({ name }) => name === 'agt.gitPath');
  const configured = setting?.value ? { path: setting.value, origin: setting.origin } : undefined;
  return findGit({ configured, env, ignoresShims, ...(onProblem && { onProblem }) });
}

/** The git for a new shim: what is on PATH now, and not what an older shim was made with. */
export async function gitForShim({ cwd, env }: Context): Promise<Git> {
  const path = findRealGit(globalConfigPath(env), env, undefined, true);
  return (await probeGit(openGit(path, cwd, env))).git;
}

/** @throws AgtError if agt could not use this value of agt.gitPath */
export async function requireGit(path: string, { cwd, env }: Context): Promise<void> {
  const configured = { path, origin: 'the command line' };
  await probeGit(openGit(findGit({ configured, env }), cwd, env));
}

async function probeGit(git: Git): Promise<{ git: Git; version: GitVersion }> {
  const output = (await runGit(git, ['--version'])).stdout.toString();
  const version = parseGitVersion(output);
  if (version === undefined) {
    throw new AgtError(`"${git.path}" is not git: --version printed "${output.split('\n')[0]}"`, {
      hints: ['set the path of the real git: agt config set --global agt.gitPath <path>'],
    });
  }
  if (!isAtLeast(version, OLDEST_GIT.major, OLDEST_GIT.minor)) {
    throw new AgtError(`git ${version.text} (${git.path}) is too old`, {
      hints: [`agt needs git ${OLDEST_GIT.major}.${OLDEST_GIT.minor} or newer`],
    });
  }
  return { git, version };
}
