/**
 * Keeps the git directories of a sandbox's submodules while the sandbox is gone. git has them in the git directory of
 * the worktree (`modules/`), which goes with its registration, and no snapshot holds them. A rename keeps all of it:
 * commits, stashes, index, settings. A repository in the sandbox with a `.git` directory of its own is not among them.
 */
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { holdsFiles } from '../disk/folder-entries.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { OpenDirectories } from '../disk/open-directories.ts';
import { gitDirOf, gitFileTarget } from '../git/files/discover-repository.ts';
import { subdirectories } from '../git/files/ref-files.ts';
import { registrationOf } from '../git/files/worktree-registrations.ts';
import { SUBMODULE } from '../git/modes.ts';
import { type Git, gitAnswer, gitText, inDirectory, PLAIN_INDEX } from '../git/run/git.ts';
import { submodulesDirectory } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from './record.ts';

type Session = Pick<SessionRecord, 'session_id' | 'sandbox' | 'checkout'>;

/** Call it before the registration goes. `gitDir` is the git directory of the worktree. */
export function keepSubmodules({ agtDir }: Repository, { session_id }: Session, gitDir: string): void {
  const modules = join(gitDir, 'modules');
  if (!existsSync(modules)) return;
  const store = submodulesDirectory(agtDir, session_id);
  makeDirectories(store);
  renameSync(modules, join(store, String((removals(store).at(-1) ?? 0) + 1)));
  failurePoint('remove: submodules kept');
}

/** Each removal of the session has left one directory; the last one has the highest number. */
function removals(store: string): number[] {
  return subdirectories(store)
    .map(Number)
    .sort((a, b) => a - b);
}

/** After a restore: gives the sandbox the submodules that it had. Those whose files did not come back stay without. */
export async function bringSubmodulesBack(
  { git, agtDir }: Repository,
  { session_id, sandbox, checkout }: Session,
): Promise<void> {
  const folder = checkout ?? sandbox;
  const gitDir = gitDirOf(folder);
  if (gitDir === undefined) return;
  const store = submodulesDirectory(agtDir, session_id);
  const last = removals(store).at(-1);
  const modules = join(gitDir, 'modules');
  const from = last === undefined || existsSync(modules) ? modules : join(store, String(last));
  for (const name of gitDirectoriesIn(from))
    await connect(git, folder, name, { found: join(from, name), gitDir: join(modules, name) });
  // It comes last: after a kill the next restore does all of it again.
  if (from !== modules) renameSync(from, modules);
}

/** Paths of the git directories of submodules, and of their submodules, relative to `modules`. */
function gitDirectoriesIn(modules: string): string[] {
  return subdirectories(modules).flatMap((name) => {
    const directory = join(modules, name);
    const isGitDir = existsSync(join(directory, 'HEAD'));
    const inner = gitDirectoriesIn(isGitDir ? join(directory, 'modules') : directory);
    return isGitDir
      ? [name, ...inner.map((path) => join(name, 'modules', path))]
      : inner.map((path) => join(name, path));
  });
}

/** Writes the `.git` file of a submodule whose files are there, and deletes the one of a submodule without files. */
async function connect(
  git: Git,
  folder: string,
  name: string,
  { found, gitDir }: { readonly found: string; readonly gitDir: string },
): Promise<void> {
  const config = join(found, 'config');
  const args = ['config', '--file', config, '--no-includes', '--get', 'core.worktree'];
  const known = await gitAnswer(git, args);
  const path =
    known === undefined ? await pathOf(git, folder, name) : relative(folder, resolve(gitDir, known));
  if (path.startsWith('..') || !holdsFiles(join(folder, path))) return;
  if ((await modeOf(inDirectory(git, join(folder, dirname(path))), basename(path))) !== SUBMODULE) return;
  if (known === undefined)
    await gitText(git, ['config', '--file', config, 'core.worktree', relative(gitDir, join(folder, path))]);
  const directories = new OpenDirectories(Buffer.from(folder).toString('latin1'));
  try {
    const gitFile = Buffer.from(join(path, '.git')).toString('latin1');
    if (directories.lstat(gitFile) !== undefined) {
      const isAlone = readdirSync(join(folder, path)).length === 1;
      if (isAlone && gitFileTarget(join(folder, path, '.git')) === gitDir) rmSync(directories.entry(gitFile));
      return;
    }
    const text = `gitdir: ${relative(join(folder, path), gitDir)}\n`;
    writeFileSync(directories.entry(gitFile), text, { flag: 'wx' });
    // `git submodule deinit` takes it out of the settings.
    await gitAnswer(inDirectory(git, folder), ['submodule', '--quiet', 'init', '--', path]);
  } finally {
    directories.close();
  }
}

/** `git submodule deinit` takes the path out of the submodule's own settings. */
async function pathOf(git: Git, folder: string, name: string): Promise<string> {
  const args = ['config', '--file', join(folder, '.gitmodules'), '--get', `submodule.${name}.path`];
  return (await gitAnswer(git, args)) ?? '..';
}

/** The mode that the index has of an entry of the current directory. */
async function modeOf(git: Git, name: string): Promise<string | undefined> {
  const args = [...PLAIN_INDEX, 'ls-files', '--stage', '--', `:(literal)${name}`];
  return (await gitAnswer(git, args))?.split(' ')[0];
}

/** One entry for each submodule with commits that none of its remotes has. */
export async function unpushedInSubmodules(
  { git, agtDir, commonDir }: Repository,
  { session_id, sandbox }: Session,
): Promise<string[]> {
  const registration = registrationOf(commonDir, sandbox);
  const store = submodulesDirectory(agtDir, session_id);
  const places = [
    ...(registration === undefined ? [] : [join(registration, 'modules')]),
    ...removals(store).map((number) => join(store, String(number))),
  ];
  const found: string[] = [];
  for (const modules of places) {
    for (const name of gitDirectoriesIn(modules)) {
      const commits = await unpushed(git, join(modules, name));
      if (commits !== '0')
        found.push(
          `${commits === '1' ? '1 commit' : `${commits} commits`} of submodule ${name} that no remote has`,
        );
    }
  }
  return found;
}

async function unpushed(git: Git, gitDir: string): Promise<string> {
  // Its settings may name a work tree that is gone.
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: gitDir };
  const count = (names: readonly string[]) =>
    gitAnswer(git, ['rev-list', '--count', ...names, '--not', '--remotes', '--'], { env });
  return (await count(['HEAD', '--all'])) ?? (await count(['--all'])) ?? 'unknown';
}
