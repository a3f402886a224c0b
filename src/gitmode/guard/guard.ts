/**
 * Captures the sessions in which a command can destroy work. Outside of session folders it does nothing. When it fails,
 * it prints one warning, and git runs all the same, with its own output and exit code.
 */

import { settingsReader } from '../../config/settings.ts';
import { expandAlias } from '../command-line/alias.ts';
import { type CommandLine, parseCommandLine } from '../command-line/parse.ts';
import { COMMANDS } from '../commands.ts';
import { type GitAccess, type Invocation, openInvocation } from '../invocation.ts';
import { inSession } from '../stash/words.ts';
import { openView } from '../view/repository-view.ts';
import { captureSession, warnNotCaptured, warnOfRepository } from './capture.ts';
import { commitsAtRisk, isDestructive } from './destructive.ts';
import { repositoriesAtRisk } from './repositories-at-risk.ts';
import {
  type GuardedSession,
  isSame,
  sessionOfWorktree,
  sessionsHere,
  sessionsOfRemovedWorktrees,
  sessionsOfWrittenFiles,
} from './sessions.ts';

/** For words of the real git at `path`. */
export function guardWords(words: readonly string[], path: string, env: NodeJS.ProcessEnv): void {
  const line = parseCommandLine(words);
  if (line === undefined) return;
  const readSettings = settingsReader(env, () => {});
  const invocation = openInvocation({ path, readSettings, problems: [] }, line, env);
  captureBefore(expandedLine(invocation), invocation);
}

/** `line` is the line of the invocation, with aliases expanded. */
export function captureBefore(line: CommandLine, invocation: Invocation): void {
  try {
    const sessions = sessionsAtRisk(line, invocation).filter((session) => isGuarded(session, invocation));
    if (sessions.length === 0) return;
    const { git, repository, env } = invocation;
    const isSandbox = repository !== undefined && sessionOfWorktree(repository) !== undefined;
    const questions = commitsAtRisk(line).map((words) => (isSandbox ? words.map(inSession) : words));
    const keep = questions.flatMap((question) => newestCommits(question, git));
    const label = `before git ${[line.command, ...line.args].join(' ')}`;
    for (const session of sessions) {
      // A repository inside a sandbox has commits that the repository of the session has not.
      const isOwn = repository !== undefined && isSame(repository.commonDir, session.commonDir);
      const nested = captureSession(session, { label, keep: isOwn ? keep : [] }, env);
      if (isOwn) for (const path of repositoriesAtRisk(line, nested, git)) warnOfRepository(path);
    }
  } catch (error) {
    warnNotCaptured((error as Error).message);
  }
}

function sessionsAtRisk(line: CommandLine, invocation: Invocation): GuardedSession[] {
  const found = [
    ...(isDestructive(line) ? sessionsHere(invocation) : []),
    ...sessionsOfRemovedWorktrees(line, invocation),
    ...sessionsOfWrittenFiles(line, invocation),
  ];
  return found.filter(({ sandbox }, i) => found.findIndex((other) => other.sandbox === sandbox) === i);
}

function isGuarded(
  { commonDir, isCaptured }: GuardedSession,
  { repository, settings, settingsOf }: Invocation,
): boolean {
  return isCaptured && (repository?.commonDir === commonDir ? settings : settingsOf(commonDir)).guard;
}

/** Only in a session is it worth asking git for its aliases. */
function expandedLine(invocation: Invocation): CommandLine {
  const { line, env } = invocation;
  if (COMMANDS.has(line.command) || sessionsHere(invocation).length === 0) return line;
  const view = openView(invocation);
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
