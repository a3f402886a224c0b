/**
 * `git stash` in a sandbox works on the session's own stash (git-directory.ts): the user's `refs/stash`, which all
 * worktrees share, is neither shown nor changed.
 *
 * Limit: a program that calls the real git by its path uses the shared stash.
 */

import { writeSync } from 'node:fs';
import { AgtError, EXIT, systemFailure } from '../../errors.ts';
import { hasRefFiles } from '../../git/files/ref-files.ts';
import { runAsChild } from '../../git/run/become.ts';
import { type CommandLine, parseCommandLine, repositoryOptions, SHELL_ALIAS } from '../command-line/parse.ts';
import { type GuardedSession, sessionOfWorktree } from '../guard/sessions.ts';
import type { Invocation } from '../invocation.ts';
import { openStashDirectory, type StashDirectory } from './git-directory.ts';
import { keepReflog } from './reflog-lines.ts';
import { inSession, mayNameStash, withSessionStash } from './words.ts';

const CHANGES_NO_STASH = /^(list|show|create)$/;

/** Runs the command on the session's stash. Returns git's exit code. */
export type StashRun = () => Promise<number>;

/** Undefined: git gets the line as it was given. `line` has aliases expanded, `git` is the path of the real git. */
export function stashRun(line: CommandLine, invocation: Invocation, git: string): StashRun | undefined {
  if (line.command !== 'stash' || line.args.includes('-h') || line.args.includes('--help')) return undefined;
  const session = sessionWithStash(invocation);
  return session && (() => new SessionStash(line, invocation, session, git).run());
}

/** The session in whose sandbox git runs. */
function sessionWithStash({ repository }: Invocation): GuardedSession | undefined {
  return repository && sessionOfWorktree(repository);
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
  if (parsed === undefined || repository === undefined || sessionWithStash(invocation) === undefined)
    return given;
  if (!hasRefFiles(repository.commonDir, env)) return given;
  const args = withSessionStash(parsed.command, parsed.args, { ...repository, cwd });
  return args === parsed.args ? given : [...parsed.globals, parsed.command, ...args];
}

class SessionStash {
  private readonly line: CommandLine;
  private readonly invocation: Invocation;
  private readonly session: GuardedSession;
  private readonly git: string;

  constructor(line: CommandLine, invocation: Invocation, session: GuardedSession, git: string) {
    this.line = line;
    this.invocation = invocation;
    this.session = session;
    this.git = git;
  }

  run(): Promise<number> {
    const [verb, name, entry, ...more] = this.line.args;
    const base = verb === 'branch' && more.length === 0 ? this.baseOf(entry) : undefined;
    if (base === undefined || name === undefined || name.startsWith('-')) return this.stash(this.line.args);
    return this.branch(name, entry, base);
  }

  /** In the temporary directory git cannot make a branch. These are the three steps of git's own command. */
  private async branch(name: string, entry: string | undefined, base: string): Promise<number> {
    const checkedOut = await this.start([...this.line.globals, 'checkout', '-b', name, base]);
    if (checkedOut !== 0) return EXIT.failed;
    const words = entry === undefined ? [] : [entry];
    const applied = await this.stash(['apply', '--index', ...words]);
    return applied === 0 && isEntry(entry) ? this.stash(['drop', ...words]) : applied;
  }

  /** The commit on which the entry was made. */
  private baseOf(entry = '0'): string | undefined {
    const name = /^\d+$/.test(entry) ? `stash@{${entry}}` : entry;
    const { exitCode, stdout } = this.invocation.git.ask([
      'rev-parse',
      '-q',
      '--verify',
      `${inSession(name)}^1`,
    ]);
    return exitCode === 0 ? stdout.trim() : undefined;
  }

  private open(): StashDirectory | undefined {
    const { invocation, session } = this;
    try {
      if (!hasRefFiles(session.commonDir, invocation.env)) {
        if (CHANGES_NO_STASH.test(this.line.args[0] ?? '')) return undefined;
        throw new AgtError('its refs are no files');
      }
      return openStashDirectory(this.directories(), invocation.git.ask);
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

  private directories() {
    const { repository } = this.invocation;
    return { gitDir: repository?.gitDir ?? '', commonDir: this.session.commonDir };
  }

  private stash(args: readonly string[]): Promise<number> {
    const { globals, command } = this.line;
    const { env, repository, git } = this.invocation;
    const directory = this.open();
    if (directory === undefined) return this.start([...globals, command, ...args]);
    const top = repository?.top ?? this.session.sandbox;
    const named = repositoryOptions(globals).workTree ?? env['GIT_WORK_TREE'];
    const place = [`--git-dir=${directory.path}`, ...(named === undefined ? [`--work-tree=${top}`] : [])];
    return this.start([...globals, ...place, command, ...args], () => {
      try {
        directory.close();
        keepReflog(this.directories(), git.ask);
      } catch (error) {
        const reason = systemFailure(error) ?? (error as Error).message;
        writeSync(2, `warning: agt: git is done, but ${directory.path} stays: ${reason}\n`);
      }
    });
  }

  private start(words: readonly string[], clean?: () => void): Promise<number> {
    const { GIT_COMMON_DIR: _, ...env } = this.invocation.env;
    return runAsChild(this.git, words, env, clean);
  }
}

/** Any other commit stays after it was applied. */
function isEntry(name: string | undefined): boolean {
  return name === undefined || /^(\d+|(refs\/)?stash(@\{.*\})?)$/.test(name);
}
