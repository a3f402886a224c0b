/** How a capture sees an attached folder: the files that git ignores there, and the user's repository. Both are only read. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AttachedFolder, IgnoredRequest, UserRepository } from '../autocommit/request.ts';
import type { IgnoredFiles } from '../autocommit/scan/scan-options.ts';
import { plural, systemFailure } from '../errors.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { keepGitDirectory } from '../git/files/mirror-git-directory.ts';
import { openHash } from '../git/objects/hash.ts';
import { type Git, gitFailed, inDirectory, runGit } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import type { Repository } from '../repository/repository.ts';
import type { Session } from '../session/session.ts';
import { includedFiles } from '../session/worktree-include.ts';
import { parentDirectories } from '../snapshot/tree.ts';
import { claim, keptOf, LARGEST_COPY, newestKept, repositoryOf } from './git-state/kept-repositories.ts';
import { keepNested } from './git-state/nested-repositories.ts';
import { readGitState } from './git-state/read-state.ts';
import { smallOnes } from './small-ignored.ts';

export function attachedFolder({ repository, record }: Session): AttachedFolder {
  const folder = record.checkout ?? record.sandbox;
  return {
    readGit: () => readGitState(repository, folder),
    hasLostGit: () => repositoryOf(folder) === undefined && newestKept(repository.agtDir) !== undefined,
    keepGit: (users, inside) => keepGit(repository.agtDir, folder, users, inside),
    readIgnored: (request) => readIgnored(repository, folder, request),
  };
}

/** A store that cannot keep it all is no reason to capture nothing. */
function keepGit(
  agtDir: string,
  folder: string,
  users: UserRepository | undefined,
  inside: readonly string[],
): string[] {
  try {
    const own = users === undefined ? [] : keepUsers(agtDir, users, folder);
    const left = [...own, ...keepNested({ folder, agtDir }, inside)];
    if (left.length === 0) return [];
    const files = plural(left.length, 'file');
    return [`${files} of the repository could not be kept: ${left[0]} is on another file system, and large`];
  } catch (error) {
    const reason = systemFailure(error);
    if (reason === undefined) throw error;
    return [`captured, but agt could not keep the repository: ${reason}`];
  }
}

function keepUsers(agtDir: string, users: UserRepository, folder: string): string[] {
  const kept = keptOf(agtDir, users.commonDir);
  const left = keepGitDirectory(users.commonDir, kept.directory, LARGEST_COPY);
  claim(kept, users, folder);
  return left;
}

/** `--directory` names a directory once, and does not list what it holds. */
const LIST_IGNORED = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];

async function readIgnored(
  { git, commonDir, settings }: Repository,
  folder: string,
  { alsoTake, takesSmall, nested }: IgnoredRequest,
): Promise<IgnoredFiles> {
  const inFolder = inDirectory(git, folder);
  const ofStore = [`--git-dir=${commonDir}`, `--work-tree=${folder}`, ...LIST_IGNORED];
  const isWorktree = gitDirOf(folder) !== undefined;
  const inNested = nested.map((path) => ({ path, git: inDirectory(git, join(folder, onDisk(path))) }));
  const nestedRuns = inNested
    .filter((one) => existsSync(one.git.cwd))
    .map(async (one) => ({
      path: one.path,
      run: await runGit(one.git, LIST_IGNORED).catch(() => undefined),
    }));
  let run = await runGit(inFolder, isWorktree ? LIST_IGNORED : ofStore);
  // If git refuses the user's repository, the .gitignore files count all the same.
  if (run.exitCode !== 0 && isWorktree) run = await runGit(inFolder, ofStore);
  if (run.exitCode !== 0) throw gitFailed(LIST_IGNORED, run);
  const found = new FoundIgnored(inFolder);
  found.add('sandbox', run.stdout);
  for (const { path, run: listed } of await Promise.all(nestedRuns)) found.add(path, listed?.stdout);
  if (takesSmall) {
    const pathOf = (path: string) =>
      `${Buffer.from(folder).toString('latin1')}/${path.slice('sandbox/'.length)}`;
    const most = { files: settings.ignoredFiles, bytes: settings.ignoredSize };
    found.takeWhole(smallOnes(found.ignored, pathOf, most));
  }
  if (isWorktree && found.ignored.size > 0) found.take(await readIncluded(inFolder));
  found.take(alsoTake);
  return found;
}

/** The ignored files that `.worktreeinclude` names: a person wants them in every sandbox, so a snapshot holds them. */
async function readIncluded(git: Git): Promise<string[]> {
  if (!existsSync(join(git.cwd, '.worktreeinclude'))) return [];
  const files = await includedFiles(git);
  return files.map((path) => `sandbox/${Buffer.from(path).toString('latin1')}`);
}

/** Paths are relative to the session folder, one byte per character. */
class FoundIgnored implements IgnoredFiles {
  readonly ignored = new Set<string>();
  /** Files to take all the same, and the directories above them. */
  private readonly taken = new Set<string>();
  /** Directories, and files, that are taken with all that is in them. */
  private whole: ReadonlySet<string> = new Set();
  private readonly repositories = new Set<string>();
  /** Runs in the folder. */
  private readonly git: Git;

  constructor(git: Git) {
    this.git = git;
  }

  get text(): string {
    if (this.ignored.size === 0) return '';
    const all = [this.ignored, this.taken, this.whole].flatMap((paths) => [...[...paths].sort(), '']);
    return openHash('sha1')
      .update(Buffer.from(all.join('\0'), 'latin1'))
      .digest();
  }

  leavesOut(path: string): boolean {
    if (this.taken.has(path)) return false;
    return (
      this.isLeft(path) ||
      (this.taken.size > 0 && parentDirectories(path).some((above) => this.isLeft(above)))
    );
  }

  enterRepository(path: string): void {
    if (this.repositories.has(path)) return;
    this.add(path, askGitSync(inDirectory(this.git, join(this.git.cwd, onDisk(path))), LIST_IGNORED));
  }

  /** `listed`: what git has listed in a repository; undefined if it could not. */
  add(repository: string, listed: Buffer | undefined): void {
    this.repositories.add(repository);
    for (const path of listed?.toString('latin1').split('\0') ?? [])
      if (path !== '') this.ignored.add(`${repository}/${path.replace(/\/$/, '')}`);
  }

  takeWhole(paths: readonly string[]): void {
    this.whole = new Set(paths);
  }

  take(paths: readonly string[]): void {
    for (const path of paths) {
      if (![path, ...parentDirectories(path)].some((part) => this.isLeft(part))) continue;
      for (const part of [path, ...parentDirectories(path)]) this.taken.add(part);
    }
  }

  private isLeft(path: string): boolean {
    return this.ignored.has(path) && !this.whole.has(path);
  }
}

/** As Node has it, relative to the attached folder. */
function onDisk(path: string): string {
  return Buffer.from(path.replace(/^sandbox\//, ''), 'latin1').toString();
}
