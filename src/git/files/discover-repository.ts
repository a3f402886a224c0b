/**
 * Finds the repository that git would use, in process: a child would cost more than the rest of git mode. It follows
 * git's setup.c (GIT_DIR, `.git` files, bare repositories, ceilings, file systems) but checks no ownership and reads
 * no configuration: where git refuses a repository (safe.directory), it does so itself when it runs.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

export interface DiscoveredRepository {
  /** Absolute; of a linked worktree, `<common>/worktrees/<id>`. */
  readonly gitDir: string;
  /** Absolute; where refs and objects are. */
  readonly commonDir: string;
  /** The folder whose `.git` led here; undefined for a bare repository and one that the environment names. */
  readonly top?: string;
}

/** `cwd` is absolute, with every `-C` applied; `env` has GIT_DIR where `--git-dir` or `--bare` set it. */
export function discoverRepository(cwd: string, env: NodeJS.ProcessEnv): DiscoveredRepository | undefined {
  const named = env['GIT_DIR'];
  if (named !== undefined && named !== '') {
    const path = resolve(cwd, named);
    const gitDir = isGitDir(path) ? path : readGitFile(path);
    return gitDir === undefined ? undefined : openGitDir(gitDir, cwd, env);
  }
  const ceilings = ceilingDirectories(env);
  const crossing = /^(1|true|yes|on)$/i.test(env['GIT_DISCOVERY_ACROSS_FILESYSTEM'] ?? '');
  const device = crossing ? undefined : statSync(cwd, { throwIfNoEntry: false })?.dev;
  for (let dir = cwd; ; ) {
    const inside = join(dir, '.git');
    const within = isGitDir(inside) ? inside : readGitFile(inside);
    if (within !== undefined) return { ...openGitDir(within, cwd, env), top: dir };
    if (isGitDir(dir)) return openGitDir(dir, cwd, env);
    const parent = dirname(dir);
    if (parent === dir || ceilings.has(parent)) return undefined;
    if (device !== undefined && statSync(parent, { throwIfNoEntry: false })?.dev !== device) return undefined;
    dir = parent;
  }
}

function openGitDir(gitDir: string, cwd: string, env: NodeJS.ProcessEnv): DiscoveredRepository {
  if (env['GIT_COMMON_DIR']) return { gitDir, commonDir: resolve(cwd, env['GIT_COMMON_DIR']) };
  const common = readSmallFile(join(gitDir, 'commondir'));
  return { gitDir, commonDir: common === undefined ? gitDir : resolve(gitDir, common) };
}

/** A `.git` file's target, if it is a repository. */
function readGitFile(path: string): string | undefined {
  const target = /^gitdir: (.+)$/.exec(readSmallFile(path) ?? '')?.[1];
  if (target === undefined) return undefined;
  const gitDir = isAbsolute(target) ? target : resolve(dirname(path), target);
  return isGitDir(gitDir) ? gitDir : undefined;
}

/** HEAD, and objects and refs here or in the common directory, as git's is_git_directory() has it. */
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

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** A small file's text without its final line break, or undefined where it cannot be read. */
export function readSmallFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}
