/**
 * Finds the repository that git would use, without a child process: one would cost more than the rest of git mode. It
 * follows git's setup.c (GIT_DIR, `.git` files, bare repositories, ceilings, file systems), but it checks no ownership
 * and reads no configuration. If git refuses a repository (safe.directory), it does so itself when it runs.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { isDirectory, readSmallFile, statOrUndefined } from '../../disk/read-file.ts';
import { realPath } from '../../disk/real-path.ts';
import { subdirectories } from './ref-files.ts';

export interface GitDirectories {
  /** Absolute; for a linked worktree, `<common>/worktrees/<id>`. */
  readonly gitDir: string;
  /** Absolute; holds the refs and objects. */
  readonly commonDir: string;
}

export interface DiscoveredRepository extends GitDirectories {
  /** The directory whose `.git` led here; undefined for a bare repository and for one that the environment names. */
  readonly top?: string;
}

/** `cwd` is absolute, with every `-C` applied. `env` has GIT_DIR if `--git-dir` or `--bare` set it. */
export function discoverRepository(cwd: string, env: NodeJS.ProcessEnv): DiscoveredRepository | undefined {
  const named = env['GIT_DIR'];
  if (named !== undefined && named !== '') {
    const path = resolve(cwd, named);
    const gitDir = isGitDir(path) ? path : readGitFile(path);
    return gitDir === undefined ? undefined : openGitDir(gitDir, cwd, env);
  }
  const ceilings = ceilingDirectories(env);
  const mayCross = /^(1|true|yes|on)$/i.test(env['GIT_DISCOVERY_ACROSS_FILESYSTEM'] ?? '');
  const device = mayCross ? undefined : statOrUndefined(cwd)?.dev;
  for (let dir = cwd; ; ) {
    const dotGit = join(dir, '.git');
    const gitDir = isGitDir(dotGit) ? dotGit : readGitFile(dotGit);
    if (gitDir !== undefined) return { ...openGitDir(gitDir, cwd, env), top: dir };
    if (isGitDir(dir)) return openGitDir(dir, cwd, env);
    const parent = dirname(dir);
    if (parent === dir || ceilings.has(parent)) return undefined;
    if (device !== undefined && statOrUndefined(parent)?.dev !== device) return undefined;
    dir = parent;
  }
}

/** The repository of a directory that has a `.git` file of its own; no directory above it counts. */
export function repositoryOfWorktree(worktree: string): DiscoveredRepository | undefined {
  const gitDir = readGitFile(join(worktree, '.git'));
  return gitDir === undefined ? undefined : openGitDir(gitDir, worktree, {});
}

function openGitDir(gitDir: string, cwd: string, env: NodeJS.ProcessEnv): DiscoveredRepository {
  if (env['GIT_COMMON_DIR']) return { gitDir, commonDir: resolve(cwd, env['GIT_COMMON_DIR']) };
  const common = readSmallFile(join(gitDir, 'commondir'));
  return { gitDir, commonDir: common === undefined ? gitDir : resolve(gitDir, common) };
}

/** The target of a `.git` file, if it is a repository. */
function readGitFile(path: string): string | undefined {
  const gitDir = gitFileTarget(path);
  return gitDir !== undefined && isGitDir(gitDir) ? gitDir : undefined;
}

/** As git's is_git_directory(): HEAD, and objects and refs here or in the common directory. */
function isGitDir(path: string): boolean {
  if (readSmallFile(join(path, 'HEAD')) === undefined) return false;
  const common = readSmallFile(join(path, 'commondir'));
  const root = common === undefined ? path : resolve(path, common);
  return (
    isDirectory(join(root, 'refs')) &&
    (common !== undefined ||
      isDirectory(join(root, 'objects')) ||
      Boolean(process.env['GIT_OBJECT_DIRECTORY']))
  );
}

function ceilingDirectories(env: NodeJS.ProcessEnv): Set<string> {
  const listed = (env['GIT_CEILING_DIRECTORIES'] ?? '').split(':').filter((dir) => isAbsolute(dir));
  return new Set(listed.map((dir) => resolve(dir)));
}

/** Absolute; undefined if the worktree has no such file. */
export function worktreeGitDir(worktree: string): string | undefined {
  return gitFileTarget(join(worktree, '.git'));
}

/** The git directory of any worktree, the main one too. */
export function gitDirOf(worktree: string): string | undefined {
  const main = join(worktree, '.git');
  return worktreeGitDir(worktree) ?? (existsSync(join(main, 'HEAD')) ? main : undefined);
}

/** Whether a `.git` file is that of a submodule of the worktree whose git directory is `gitDir`. */
export function isOfSubmodule(gitFile: string, gitDir: string): boolean {
  return gitFileTarget(gitFile)?.startsWith(`${join(gitDir, 'modules')}/`) === true;
}

/** The directory that a `.git` file names, absolute; undefined if the file cannot be read or is not a `.git` file. */
export function gitFileTarget(path: string): string | undefined {
  const target = /^gitdir: (.+)$/s.exec(readSmallFile(path) ?? '')?.[1];
  return target === undefined ? undefined : resolve(dirname(path), target);
}

/** The git directories of all linked worktrees. */
export function listRegistrations(commonDir: string): string[] {
  const directory = join(commonDir, 'worktrees');
  return subdirectories(directory).map((id) => join(directory, id));
}

/** Real paths of the worktrees that are there: the main one, and then the linked ones. */
export function listWorktrees(commonDir: string): string[] {
  const main = basename(commonDir) === '.git' ? [dirname(commonDir)] : [];
  const linked = listRegistrations(commonDir).flatMap((gitDir) => registeredWorktree(gitDir) ?? []);
  return [...main, ...linked].map(realPath).filter((path) => existsSync(join(path, '.git')));
}

/** The worktree that a registration names; undefined if it names none. */
export function registeredWorktree(gitDir: string): string | undefined {
  const gitFile = readSmallFile(join(gitDir, 'gitdir'));
  return gitFile === undefined ? undefined : dirname(resolve(gitDir, gitFile));
}
