/**
 * Captures the sessions in which a command can destroy work. Outside of session folders it does nothing. When it fails,
 * it prints one warning, and git runs all the same, with its own output and exit code.
 */
import { settingsReader } from '../../config/settings.ts';
import { isSameDirectory } from '../../disk/real-path.ts';
import { expandAlias } from '../command-line/alias.ts';
import { type CommandLine, parseCommandLine } from '../command-line/parse.ts';
import { COMMANDS } from '../commands.ts';
import { type GitAccess, type Invocation, openInvocation } from '../invocation.ts';
import { inSession } from '../stash/words.ts';
import { openView } from '../view/repository-view.ts';
import { beforeDashes } from './at-risk.ts';
import { captureSession, warn, warnNotCaptured } from './capture.ts';
import { type GuardedSession, sessionOfWorktree, sessionsAtRisk, sessionsHere } from './sessions.ts';

/** For words of the real git at `path`. */
export function guardWords(words: readonly string[], path: string, env: NodeJS.ProcessEnv): void {
  const invocation = invocationOf(words, path, env);
  if (invocation !== undefined) captureBefore(expandedLine(invocation), invocation);
}

/** Whether they are a push or a stash, perhaps by an alias. */
export function isOfGitMode(words: readonly string[], path: string, env: NodeJS.ProcessEnv): boolean {
  const invocation = invocationOf(words, path, env);
  return invocation !== undefined && ['push', 'stash'].includes(withoutAlias(invocation).command);
}

function invocationOf(words: readonly string[], path: string, env: NodeJS.ProcessEnv) {
  const line = parseCommandLine(words);
  const readSettings = settingsReader(env, () => {});
  return line && openInvocation({ path, readSettings, problems: [], refuses: [] }, line, env);
}

/** `line` is the line of the invocation, with aliases expanded. */
export function captureBefore(line: CommandLine, invocation: Invocation): void {
  try {
    const sessions = sessionsAtRisk(line, invocation).filter((session) => isGuarded(session, invocation));
    if (sessions.length === 0) return;
    const { git, repository, env } = invocation;
    const isSandbox = repository !== undefined && sessionOfWorktree(repository) !== undefined;
    const atRisk = COMMANDS.get(line.command)?.commitsAtRisk?.(line.args) ?? [];
    const questions = atRisk.map((words) => (isSandbox ? words.map(inSession) : words));
    const keep = questions.flatMap((question) => newestCommits(question, git));
    const label = `before git ${[line.command, ...line.args].join(' ')}`;
    for (const session of sessions) {
      // A repository inside a sandbox has commits that the repository of the session has not.
      const isOwn = repository !== undefined && isSameDirectory(repository.commonDir, session.commonDir);
      const nested = captureSession(session, { label, keep: isOwn ? keep : [] }, env);
      for (const path of isOwn ? repositoriesAtRisk(line, nested, git) : [])
        warn(`this command can delete the repository ${path}, and no snapshot holds its commits`);
    }
  } catch (error) {
    warnNotCaptured((error as Error).message);
  }
}

function isGuarded(
  { commonDir, isCaptured }: GuardedSession,
  { repository, settings, settingsOf }: Invocation,
): boolean {
  return isCaptured && (repository?.commonDir === commonDir ? settings : settingsOf(commonDir)).guard;
}

/** Only in a session is it worth asking git for its aliases. */
function expandedLine(invocation: Invocation): CommandLine {
  return sessionsHere(invocation).length === 0 ? invocation.line : withoutAlias(invocation);
}

function withoutAlias(invocation: Invocation): CommandLine {
  const { line, env } = invocation;
  const view = COMMANDS.has(line.command) ? undefined : openView(invocation);
  return (view && expandAlias(line, view, env)) ?? line;
}

/** Among the commits of the question, those that are no parent of another: these keep all the others. */
function newestCommits(question: readonly string[], { ask }: GitAccess): string[] {
  const { exitCode, stdout } = ask(['rev-list', '--parents', ...question]);
  if (exitCode !== 0) return [];
  const lines = stdout.split('\n').filter((text) => text !== '');
  const parents = new Set(lines.flatMap((text) => text.split(' ').slice(1)));
  return [...new Set(lines.map((text) => text.split(' ')[0] as string))].filter(
    (commit) => !parents.has(commit),
  );
}

/**
 * Repositories in a sandbox that a command deletes with all their commits: git cleans them away, or writes a file in
 * their place. git refuses the latter without a word like --force, but agt does not tell these cases apart.
 * `nested`: their paths, from the top of the worktree.
 */
function repositoriesAtRisk(
  { command, args }: CommandLine,
  nested: readonly string[],
  { ask }: GitAccess,
): readonly string[] {
  if (nested.length === 0) return [];
  if (command === 'clean') return forces(args) > 1 ? nested : [];
  const words = args.map((arg) => arg.replace(/^--[a-z]+=/, '')).filter((arg) => !/^-|\s/.test(arg));
  const names = ['HEAD', '', ...words];
  const input = nested.flatMap((path) => names.map((name) => `${name}:${path}\n`)).join('');
  const kinds = ask(['cat-file', '--batch-check=%(objecttype)'], input).stdout.split('\n');
  return nested.filter((_, i) => kinds.slice(i * names.length, (i + 1) * names.length).includes('blob'));
}

/** How often `-f` or `--force` is given. */
function forces(args: readonly string[]): number {
  const options = beforeDashes(args);
  const letters = options.filter((arg) => /^-[^-e]*f/.test(arg)).map((arg) => arg.replace(/e.*|[^f]/gs, ''));
  return letters.join('').length + options.filter((arg) => /^--f/.test(arg)).length;
}
