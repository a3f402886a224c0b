/**
 * `git stash` in a sandbox works on the session's own stash (git-directory.ts): the user's `refs/stash`, which all
 * worktrees share, is neither shown nor changed.
 *
 * Limit: a program that calls the real git by its path uses the shared stash.
 */
import { AgtError, EXIT, systemFailure } from '../../errors.ts';
import type { GitDirectories } from '../../git/files/discover-repository.ts';
import { hasRefFiles } from '../../git/files/ref-files.ts';
import { runAsChild } from '../../git/run/become.ts';
import { type CommandLine, parseCommandLine, repositoryOptions, SHELL_ALIAS } from '../command-line/parse.ts';
import { warn } from '../guard/capture.ts';
import { type GuardedSession, sessionOfWorktree } from '../guard/sessions.ts';
import type { Invocation } from '../invocation.ts';
import { openStashDirectory, type StashDirectory } from './git-directory.ts';
import { keepReflog } from './reflog-lines.ts';
import { inSession, mayNameStash, withSessionStash } from './words.ts';

const CHANGES_NO_STASH = /^(list|show|create)$/;

/**
 * Runs the command on the session's stash, and returns git's exit code. Undefined: git gets the line as it was given. `line`
 * has aliases expanded, `git` is the path of the real git.
 */
export function stashRun(line: CommandLine, invocation: Invocation, git: string) {
  if (line.command !== 'stash' || line.args.includes('-h') || line.args.includes('--help')) return undefined;
  const session = invocation.repository && sessionOfWorktree(invocation.repository);
  return session && (() => run({ line, invocation, session, git }));
}

/** The words that git gets: in a sandbox `stash@{0}` is the session's. `given` are those that a rule has made. */
export function sandboxWords(
  { plan, line }: { readonly plan: unknown; readonly line: CommandLine },
  given: readonly string[],
  invocation: Invocation,
): readonly string[] {
  // An alias may name it.
  const words = plan === undefined ? [...line.globals, line.command, ...line.args] : given;
  if (!mayNameStash(words) || line.command === SHELL_ALIAS) return given;
  const { repository, cwd, env } = invocation;
  const parsed = parseCommandLine(words);
  if (parsed === undefined || repository === undefined || sessionOfWorktree(repository) === undefined)
    return given;
  if (!hasRefFiles(repository.commonDir, env)) return given;
  const args = withSessionStash(parsed.command, parsed.args, { ...repository, cwd });
  return args === parsed.args ? given : [...parsed.globals, parsed.command, ...args];
}

interface SessionStash {
  readonly line: CommandLine;
  readonly invocation: Invocation;
  readonly session: GuardedSession;
  readonly git: string;
}

function run(own: SessionStash): Promise<number> {
  const [verb, name, entry, ...more] = own.line.args;
  const base = verb === 'branch' && more.length === 0 ? baseOf(entry, own.invocation) : undefined;
  const isBranch = base !== undefined && name !== undefined && !name.startsWith('-');
  return isBranch ? branch(own, name, entry, base) : stash(own, own.line.args);
}

/** In the temporary directory git cannot make a branch. These are the three steps of git's own command. */
async function branch(
  own: SessionStash,
  name: string,
  entry: string | undefined,
  base: string,
): Promise<number> {
  const checkedOut = await start(own, [...own.line.globals, 'checkout', '-b', name, base]);
  if (checkedOut !== 0) return EXIT.failed;
  const words = entry === undefined ? [] : [entry];
  const applied = await stash(own, ['apply', '--index', ...words]);
  return applied === 0 && isEntry(entry) ? stash(own, ['drop', ...words]) : applied;
}

/** The commit on which the entry was made. */
function baseOf(entry = '0', { git }: Invocation): string | undefined {
  const name = /^\d+$/.test(entry) ? `stash@{${entry}}` : entry;
  const { exitCode, stdout } = git.ask(['rev-parse', '-q', '--verify', `${inSession(name)}^1`]);
  return exitCode === 0 ? stdout.trim() : undefined;
}

function stash(own: SessionStash, args: readonly string[]): Promise<number> {
  const { globals, command } = own.line;
  const { env, repository, git } = own.invocation;
  const directories = { gitDir: repository?.gitDir ?? '', commonDir: own.session.commonDir };
  const directory = open(own, directories);
  if (directory === undefined) return start(own, [...globals, command, ...args]);
  const top = repository?.top ?? own.session.sandbox;
  const named = repositoryOptions(globals).workTree ?? env['GIT_WORK_TREE'];
  const place = [`--git-dir=${directory.path}`, ...(named === undefined ? [`--work-tree=${top}`] : [])];
  return start(own, [...globals, ...place, command, ...args], () => {
    try {
      directory.close();
      keepReflog(directories, git.ask);
    } catch (error) {
      const reason = systemFailure(error) ?? (error as Error).message;
      warn(`git is done, but ${directory.path} stays: ${reason}`);
    }
  });
}

function open(
  { line, invocation, session }: SessionStash,
  directories: GitDirectories,
): StashDirectory | undefined {
  try {
    if (hasRefFiles(session.commonDir, invocation.env))
      return openStashDirectory(directories, invocation.git.ask);
    if (CHANGES_NO_STASH.test(line.args[0] ?? '')) return undefined;
    throw new AgtError('its refs are no files');
  } catch (error) {
    const reason = error instanceof AgtError ? error.message : systemFailure(error);
    if (reason === undefined) throw error;
    throw new AgtError(`session "${session.id}" cannot have a stash of its own here: ${reason}`, {
      hints: [
        'commit the work, or keep it in a snapshot: agt autocommit --label NAME',
        'for the stash of the whole repository: git --disable-agt stash',
      ],
    });
  }
}

function start(
  { git, invocation }: SessionStash,
  words: readonly string[],
  clean?: () => void,
): Promise<number> {
  const { GIT_COMMON_DIR: _, ...env } = invocation.env;
  return runAsChild(git, words, env, clean);
}

/** Any other commit stays after it was applied. */
function isEntry(name: string | undefined): boolean {
  return name === undefined || /^(\d+|(refs\/)?stash(@\{.*\})?)$/.test(name);
}
