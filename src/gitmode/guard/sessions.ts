/**
 * The sessions whose files a command line can reach: by the worktree that it works in or removes, and by a file that
 * it writes. A repository inside a sandbox, such as a submodule, is part of every snapshot too.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { isSameDirectory, realPath } from '../../disk/real-path.ts';
import { stateHome } from '../../disk/state-home.ts';
import {
  isActive,
  isCapturedByItself,
  readSessionFile,
  readSessionFiles,
  type SessionFile,
} from '../../filter/session-file.ts';
import { storeName } from '../../filter/store-name.ts';
import {
  type DiscoveredRepository,
  discoverRepository,
  listRegistrations,
  registeredWorktree,
  repositoryOfWorktree,
} from '../../git/files/discover-repository.ts';
import { agtDirectory, folderStore, foldersDirectory, inPlaceFile } from '../../layout.ts';
import { type CommandLine, repositoryOptions } from '../command-line/parse.ts';
import { isDestructive } from '../commands.ts';
import type { Invocation } from '../invocation.ts';
import { beforeDashes } from './at-risk.ts';

export interface GuardedSession {
  readonly id: string;
  /** Absolute. */
  readonly sandbox: string;
  /** The common directory of the repository that the session belongs to. */
  readonly commonDir: string;
  /** False: nothing captures it by itself. */
  readonly isCaptured: boolean;
  /** Whether somebody has made a repository of its own in the sandbox. */
  readonly isReplaced?: boolean;
  /** A worktree that is in no session, and has snapshots: its path is the `sandbox`. */
  readonly isFolder?: boolean;
}

/** The sessions that the command works in. */
export function sessionsHere({ line, repository, cwd, env }: Invocation): GuardedSession[] {
  const own = repository && sessionOfWorktree(repository);
  const workTree = repositoryOptions(line.globals).workTree ?? env['GIT_WORK_TREE'];
  const top = repository?.top;
  if (own !== undefined && workTree === undefined && top !== undefined) return [own];
  const place = workTree === undefined ? (top ?? cwd) : resolve(cwd, workTree);
  const around = sessionAround(place);
  return distinct([
    own,
    around,
    own === undefined && around === undefined ? folderAt(place, env) : undefined,
  ]);
}

/** A worktree of which somebody has taken a snapshot, as hooks do. */
function folderAt(place: string, env: NodeJS.ProcessEnv, mayBeNew = false): GuardedSession | undefined {
  const state = stateHome(env);
  const commonDir = discoverRepository(place, {})?.commonDir;
  if (state === undefined || commonDir === undefined || !existsSync(foldersDirectory(state)))
    return undefined;
  const sandbox = realPath(place);
  const isKnown = mayBeNew || existsSync(folderStore(state, storeName(sandbox)));
  return isKnown
    ? { id: basename(sandbox), sandbox, commonDir, isCaptured: true, isFolder: true }
    : undefined;
}

/** The sessions in which a command line can destroy work, or write over a file that it does not look at. */
export function sessionsAtRisk(line: CommandLine, invocation: Invocation): GuardedSession[] {
  const written = writtenFiles(line)
    .map((file) => resolve(invocation.cwd, file))
    .filter((file) => existsSync(file));
  const here = isDestructive(line) ? sessionsHere(invocation) : [];
  // Where agt guards a checkout, it guards the worktrees beside it.
  const isBesideFolder = here.some(({ isFolder }) => isFolder);
  const removed = removedWorktrees(line, invocation).map(
    (path) => sessionAround(path) ?? folderAt(path, invocation.env, isBesideFolder),
  );
  return distinct([...here, ...removed, ...written.map(sessionAround)]);
}

/** The worktrees that `git worktree remove` removes. git takes the end of a path for one if only one ends so. */
function removedWorktrees({ command, args }: CommandLine, invocation: Invocation): string[] {
  if (command !== 'worktree' || args[0] !== 'remove') return [];
  const { repository, cwd } = invocation;
  if (repository === undefined) return [];
  const names = args.slice(1).filter((arg) => !arg.startsWith('-'));
  return names.flatMap((name) => {
    const path = resolve(cwd, name);
    if (existsSync(path)) return [path];
    const all = listRegistrations(repository.commonDir).flatMap((gitDir) => registeredWorktree(gitDir) ?? []);
    return all.filter((one) => one.endsWith(`/${name}`));
  });
}

/** The files over which a line writes its output. Relative to the directory in which git runs. */
function writtenFiles({ command, args }: CommandLine): string[] {
  const words = beforeDashes(args);
  const found = words.flatMap((word, i) => {
    if (word.startsWith('--output=')) return [word.slice('--output='.length)];
    const next = args[i + 1];
    if (word === '--output' || (word === '-o' && command === 'archive'))
      return next === undefined ? [] : [next];
    return /^-o./.test(word) && command === 'archive' ? [word.slice(2)] : [];
  });
  const [verb, ...rest] = words;
  const bundle =
    command === 'bundle' && verb === 'create' ? rest.find((word) => !word.startsWith('-')) : undefined;
  return bundle === undefined || bundle === '-' ? found : [...found, bundle];
}

/** The session in whose folder the path lies. */
function sessionAround(path: string): GuardedSession | undefined {
  for (let dir = realPath(path); ; dir = dirname(dir)) {
    const repository = repositoryOfWorktree(join(dir, 'sandbox'));
    const session = (repository && sessionOfWorktree(repository)) ?? sessionOfReplaced(dir);
    if (session !== undefined) return session;
    if (dir === dirname(dir)) return undefined;
  }
}

/** The session of a folder in whose sandbox somebody has made a repository: nothing there names the session's own one. */
function sessionOfReplaced(folder: string): GuardedSession | undefined {
  const sandbox = join(folder, 'sandbox');
  if (basename(dirname(folder)) !== 'sessions' || !existsSync(join(sandbox, '.git'))) return undefined;
  const area = dirname(dirname(folder));
  const beside = area.endsWith('.agt') ? area.slice(0, -'.agt'.length) : `${area}.git`;
  const commonDir = discoverRepository(beside, {})?.commonDir;
  const id = basename(folder);
  const file = commonDir === undefined ? undefined : readSessionFile(agtDirectory(commonDir), id);
  if (commonDir === undefined || file === undefined || !isSameDirectory(file.sandbox, sandbox))
    return undefined;
  const found = guarded(file, sandbox, commonDir);
  return found && { ...found, isReplaced: true };
}

/** The session whose sandbox is the current worktree of `repository`; undefined for any other worktree. */
export function sessionOfWorktree(repository: DiscoveredRepository): GuardedSession | undefined {
  const { gitDir, commonDir } = repository;
  const inPlace = sessionInCheckout(repository);
  if (inPlace !== undefined) return inPlace;
  const sandbox = gitDir === commonDir ? undefined : registeredWorktree(gitDir);
  if (sandbox === undefined) return undefined;
  const agtDir = agtDirectory(commonDir);
  const id = basename(dirname(sandbox));
  const named = readSessionFile(agtDir, id);
  const isHere = (file: SessionFile) => isSameDirectory(file.sandbox, sandbox);
  // A sandbox that stands at the path of the user's worktree (workspace/namespace.ts) has no id in its path.
  const file = named !== undefined && isHere(named) ? named : readSessionFiles(agtDir).find(isHere);
  return file && guarded(file, file.sandbox, commonDir);
}

/** The session that works in the user's own checkout. */
function sessionInCheckout({ gitDir, commonDir, top }: DiscoveredRepository): GuardedSession | undefined {
  const id = readSmallFile(inPlaceFile(gitDir));
  const file = id === undefined ? undefined : readSessionFile(agtDirectory(commonDir), id);
  if (file?.checkout === undefined || top === undefined || !isSameDirectory(file.checkout, top))
    return undefined;
  return guarded(file, file.checkout, commonDir);
}

/** Undefined for a session that has ended. */
function guarded(file: SessionFile, sandbox: string, commonDir: string): GuardedSession | undefined {
  if (!isActive(file)) return undefined;
  return { id: file.session_id, sandbox, commonDir, isCaptured: isCapturedByItself(file) };
}

function distinct(sessions: readonly (GuardedSession | undefined)[]): GuardedSession[] {
  const found = sessions.filter((session) => session !== undefined);
  return [...new Map(found.map((session) => [session.sandbox, session])).values()];
}
