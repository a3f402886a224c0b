/**
 * The directory of a repository's session folders: in the area of an agt clone, beside an ordinary repository, or where
 * `agt.sessionsDir` says. In a container the directory around the repository often cannot be written. Then the session
 * folders are in the state directory of the user.
 */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { type RefusedWrite, refusedWrite } from '../disk/make-directories.ts';
import { stateHome } from '../disk/state-home.ts';
import { AgtError } from '../errors.ts';
import { discoverRepository } from '../git/files/discover-repository.ts';
import { type Git, gitAnswer, inDirectory } from '../git/run/git.ts';
import { areaSessions } from '../layout.ts';

export interface SessionsPlace {
  /** Absolute. git knows a worktree by its path without links. */
  readonly directory: string;
  /** Why it is not the usual one, if nobody has chosen it. */
  readonly refused?: RefusedWrite;
}

interface Owner {
  readonly git: Git;
  readonly commonDir: string;
  readonly main: string;
  readonly area: string | undefined;
  /** The value of `agt.sessionsDir`; empty: none. */
  readonly chosen: string;
}

export async function findSessionsPlace(owner: Owner): Promise<SessionsPlace> {
  const { git, commonDir, main, area, chosen } = owner;
  const hash = createHash('sha256').update(commonDir).digest('hex').slice(0, 8);
  const name = `${basename(area ?? main)}-${hash}`;
  const home = git.env['HOME'] ?? '';
  const own = (top: string) => withoutLinks(join(top, `${name}.agt`, 'sessions'));
  if (chosen !== '') return { directory: own(chosen.replace(/^~(?=\/|$)/, home)) };
  const usual = withoutLinks(area === undefined ? await siblingSessions(git, main) : areaSessions(area));
  const refused = existsSync(usual) ? undefined : refusedWrite(usual);
  const state = stateHome(git.env);
  if (refused === undefined || state === undefined) return { directory: usual };
  return { directory: own(join(state, 'agt', 'sessions')), refused };
}

/** The end of the path need not exist. */
function withoutLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  return join(withoutLinks(dirname(path)), basename(path));
}

/**
 * `<repo>.agt/sessions`, beside an ordinary repository: inside a worktree, editors and watchers would walk into it. For
 * the same reason, the sessions of a submodule go beside the outermost superproject.
 */
async function siblingSessions(git: Git, main: string): Promise<string> {
  let outer = main;
  // Only a worktree inside another one can be a submodule.
  while (discoverRepository(dirname(outer), git.env) !== undefined) {
    const superproject = await gitAnswer(inDirectory(git, outer === main ? git.cwd : outer), [
      'rev-parse',
      '--show-superproject-working-tree',
    ]);
    if (!superproject) break;
    outer = superproject;
  }
  return join(`${outer}.agt`, relative(outer, main), 'sessions');
}

/** @throws AgtError */
export function requireWritable(sessionsDir: string): void {
  const refused = refusedWrite(sessionsDir);
  if (refused === undefined) return;
  const hints = ['name another directory for them: agt config set agt.sessionsDir DIRECTORY'];
  const reason = `${refused.path}: ${refused.reason}`;
  throw new AgtError(`agt cannot make session folders in ${sessionsDir}: ${reason}`, { hints });
}
