/**
 * The working copy `cow-overlay`: in a mount namespace of one command, the sandbox stands at the user's own path. Nobody
 * outside sees that, and it ends with the command, however that ends.
 *
 * An ordinary repository has its git directory below that path, where the sandbox now is. So it is bound to a second place,
 * in the session folder, and the `.git` file of the sandbox leads there. git writes `gitdir` anew once a day if it finds a
 * worktree at another path: so a file of the namespace lies over that one as well.
 *
 * Two worktrees now have one path, and others are hidden or broken: git inside would delete their registrations, with the
 * index and HEAD of the user. So the command can change the registration of the sandbox alone.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { giveTo, ownerOf } from '../checkout/owner.ts';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { readSmallFile } from '../disk/read-file.ts';
import { AgtError } from '../errors.ts';
import { listRegistrations, worktreeGitDir } from '../git/files/discover-repository.ts';
import { listWorktrees } from '../git/files/worktree-registrations.ts';
import { namespaceFiles, type Repository } from '../repository/repository.ts';
import { sessionContaining } from '../session/find-session.ts';
import { type SessionRecord, sessionFolder } from '../session/record.ts';
import type { Session } from '../session/session.ts';

export interface Bind {
  readonly source: string;
  readonly target: string;
  /** For the command. */
  readonly readOnly?: true;
}

export interface Namespace {
  /** The user's own path, where the sandbox is to stand. */
  readonly path: string;
  /** In this order. */
  readonly binds: readonly Bind[];
  /** The common git directory as the command sees it. */
  readonly commonDir: string;
  /** Room for agt's programs that the command sees, too. */
  readonly bin: string;
}

/** Writes the files that lie over others. @throws AgtError if the sandbox cannot stand at that path */
export function prepareNamespace(session: Session, path: string): Namespace {
  const { repository, record } = session;
  const { commonDir } = repository;
  const { sandbox } = record;
  refuse(session, path);
  const registration = worktreeGitDir(sandbox);
  if (registration === undefined) throw cannot(record, path, 'its .git file leads nowhere');
  const files = namespaceFiles(session.folder);
  makeDirectories(record, path, [files.directory, files.gitDirectory, files.registration, files.bin]);
  const isMoved = `${commonDir}/`.startsWith(`${path}/`);
  const inside = isMoved ? files.gitDirectory : commonDir;
  const worktrees = join(inside, 'worktrees');
  const registered = join(worktrees, basename(registration));
  write(files.path, `${path}\n`);
  write(files.gitdir, `${path}/.git\n`);
  write(files.gitFile, `gitdir: ${registered}\n`);
  const binds: Bind[] = [
    ...(isMoved ? [{ source: commonDir, target: files.gitDirectory }] : []),
    { source: registration, target: files.registration },
    readOnly(worktrees),
    { source: files.registration, target: registered },
    ...(isMoved ? gitFilesOfOthers(commonDir, path).map(readOnly) : []),
    { source: sandbox, target: path },
    { source: files.gitFile, target: join(path, '.git'), readOnly: true },
    { source: files.gitFile, target: join(sandbox, '.git'), readOnly: true },
    { source: files.gitdir, target: join(registered, 'gitdir') },
  ];
  return { path, binds, commonDir: inside, bin: files.bin };
}

function readOnly(path: string): Bind {
  return { source: path, target: path, readOnly: true };
}

/** `.git` files of worktrees elsewhere. For the command they are broken, and `git worktree repair` would write to them. */
function gitFilesOfOthers(commonDir: string, path: string): string[] {
  return listRegistrations(commonDir)
    .map((registration) => readSmallFile(join(registration, 'gitdir')) ?? '')
    .filter(
      (file) => !file.startsWith(`${path}/`) && lstatSync(file, { throwIfNoEntry: false })?.isFile() === true,
    );
}

/** The path of the worktree of the call, or else of the main one. @throws AgtError if there is no worktree */
export async function usersPath(repository: Repository, cwd: string): Promise<string> {
  const { worktree, git, area } = repository;
  if (worktree !== undefined && sessionContaining(repository, cwd) === undefined) return worktree;
  const sessions = await repository.sessionsDir();
  const found = (await listWorktrees(git)).find(
    ({ path, bare }) => !bare && !path.startsWith(`${sessions}/`),
  );
  if (found !== undefined) return found.path;
  throw new AgtError(`${area ?? repository.commonDir} has no worktree of yours`, {
    hints: ['change to the directory at whose path the sandbox is to stand'],
  });
}

function refuse(session: Session, path: string): void {
  const {
    record,
    repository: { commonDir },
  } = session;
  const { checkout } = record;
  if (checkout !== undefined) throw cannot(record, path, 'the session works in place');
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw cannot(record, path, 'there is no such directory');
  const folder = realpathSync(session.folder);
  if (`${folder}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${folder}/`))
    throw cannot(record, path, `its folder is ${folder}`);
  if (/\n/.test(path + commonDir))
    throw cannot(record, path, 'a path with a line break cannot stand in .git');
}

function cannot({ session_id: id }: SessionRecord, path: string, reason: string): AgtError {
  return new AgtError(`the sandbox of "${id}" cannot stand at ${path}: ${reason}`, {
    hints: ['run it in its own folder: --working-copy worktree'],
  });
}

/** Root makes them for the owner of the session, who removes them with it. */
function makeDirectories(record: SessionRecord, path: string, directories: readonly string[]): void {
  const folder = sessionFolder(record);
  for (const directory of directories) {
    // An agent may have put a link there.
    if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === false)
      throw cannot(record, path, `${directory} is no directory`);
    mkdirSync(directory, { recursive: true });
    giveTo(
      directory,
      ownerOf(() => lstatSync(folder)),
    );
  }
}

/** Other commands of the session may run with the same file. */
function write(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  writeFileAtomic(path, text);
  giveTo(
    path,
    ownerOf(() => lstatSync(dirname(path))),
  );
}
