/**
 * `--autostash` sets work aside in a commit of its own. When it cannot be applied again, git puts that commit into
 * `refs/stash` and says that it is safe in the stash. In a sandbox this means the stash of the session: the entry moves
 * there once git is done.
 *
 * Limits: `git commit` at the end of a merge, and a command whose agt was killed, leave the entry in the shared stash.
 */
import { join } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { SESSION_STASH, SHARED_STASH } from '../../filter/agent-refs.ts';
import { hasRefFiles } from '../../git/files/ref-files.ts';
import type { CommandLine } from '../command-line/parse.ts';
import { warn } from '../guard/capture.ts';
import { sessionOfWorktree } from '../guard/sessions.ts';
import type { Invocation } from '../invocation.ts';
import { isConfigTrue } from '../view/view.ts';
import { keepReflog, newOf, reflogLines, removeReflogLines } from './reflog-lines.ts';

const SET_ASIDE = ['MERGE_AUTOSTASH', 'rebase-merge/autostash', 'rebase-apply/autostash'];
/** These set work aside. The others end a merge, and git then keeps what it had set aside. */
const SETS_ASIDE = ['merge', 'pull', 'rebase'];
const ENDS_MERGE = ['checkout', 'reset', 'switch'];

/** To be called when git is done; undefined if the command sets nothing aside. */
export function autostashMove(line: CommandLine, invocation: Invocation): (() => void) | undefined {
  if (![...SETS_ASIDE, ...ENDS_MERGE].includes(line.command)) return undefined;
  const { repository, env, git } = invocation;
  if (repository === undefined || sessionOfWorktree(repository) === undefined) return undefined;
  const { gitDir, commonDir } = repository;
  if (!hasRefFiles(commonDir, env)) return undefined;
  const setAside = SET_ASIDE.flatMap((name) => readSmallFile(join(gitDir, name)) ?? []);
  if (setAside.length === 0 && !(SETS_ASIDE.includes(line.command) && mayAutostash(line.args, invocation)))
    return undefined;
  const base = git.ask(['rev-parse', '-q', '--verify', 'HEAD']).stdout.trim();
  const before = new Set(reflogLines(commonDir, SHARED_STASH));
  const isOwn = (commit: string) =>
    setAside.includes(commit) ||
    git.ask(['rev-parse', '-q', '--verify', `${commit}^1`]).stdout.trim() === base;
  return () => {
    try {
      const added = reflogLines(commonDir, SHARED_STASH).filter((entry) => !before.has(entry));
      const moved = added.filter((entry) => entry.endsWith('\tautostash'));
      const own = moved.filter((entry) => isOwn(newOf(entry)));
      if (own.length === 0) return;
      for (const entry of own)
        git.ask(['update-ref', '--create-reflog', '-m', 'autostash', SESSION_STASH, newOf(entry)]);
      removeReflogLines(commonDir, SHARED_STASH, own);
      keepReflog(repository, git.ask);
    } catch (error) {
      const reason = (error as Error).message;
      warn(`what git set aside is in the stash of the whole repository: ${reason}`);
    }
  };
}

function mayAutostash(args: readonly string[], { git }: Invocation): boolean {
  const option = args.findLast((arg) => /^--(no-)?autostash$/.test(arg));
  if (option !== undefined) return option === '--autostash';
  const { stdout } = git.ask(['config', '--get-regexp', '^(merge|rebase)\\.autostash$']);
  const values = stdout.split('\n').filter(Boolean);
  return values.some((text) => isConfigTrue(text.split(' ')[1] ?? 'true'));
}
