/** How a capture sees an attached folder: the files that git ignores there, and the user's HEAD. Both are only read. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AttachedFolder } from '../../autocommit/request.ts';
import type { IgnoredFiles } from '../../autocommit/scan/scan-options.ts';
import { gitDirOf } from '../../git/files/worktree-git-dir.ts';
import { type Git, gitFailed, inDirectory } from '../../git/run/git.ts';
import { startGit } from '../../git/run/start-git.ts';
import type { Repository } from '../../repository/repository.ts';
import { parentDirectories } from '../../snapshot/directories.ts';
import { includedFiles } from '../lifecycle/worktree-include.ts';
import type { SessionRecord } from '../record.ts';

export function attachedFolder(repository: Repository, record: SessionRecord): AttachedFolder {
  const folder = record.checkout ?? record.sandbox;
  return {
    readHead: () => readHead(inDirectory(repository.git, folder)),
    readIgnored: (alsoTake = []) => readIgnored(repository, folder, alsoTake),
  };
}

async function readHead(git: Git): Promise<string | undefined> {
  if (gitDirOf(git.cwd) === undefined) return undefined;
  const run = await startGit(git, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], '');
  return run.exitCode === 0 ? run.stdout.toString().trim() : undefined;
}

/** `--directory` names a directory once, and does not list what it holds. */
const LIST_IGNORED = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];

async function readIgnored(
  { git, commonDir }: Repository,
  folder: string,
  alsoTake: readonly string[],
): Promise<IgnoredFiles> {
  const inFolder = inDirectory(git, folder);
  const ofUser = ['-c', 'core.fsmonitor=false', ...LIST_IGNORED];
  const ofStore = [`--git-dir=${commonDir}`, `--work-tree=${folder}`, ...LIST_IGNORED];
  const isWorktree = gitDirOf(folder) !== undefined;
  let run = await startGit(inFolder, isWorktree ? ofUser : ofStore, '');
  // If git refuses the user's repository, the .gitignore files count all the same.
  if (run.exitCode !== 0 && isWorktree) run = await startGit(inFolder, ofStore, '');
  if (run.exitCode !== 0) throw gitFailed(LIST_IGNORED, run);
  const ignored = run.stdout
    .toString('latin1')
    .split('\0')
    .filter((path) => path !== '')
    .map((path) => `sandbox/${path.replace(/\/$/, '')}`);
  const included = isWorktree && ignored.length > 0 ? await readIncluded(inFolder) : [];
  return ignoredFiles(ignored, [...included, ...alsoTake]);
}

/** The ignored files that `.worktreeinclude` names: a person wants them in every sandbox, so a snapshot holds them. */
async function readIncluded(git: Git): Promise<string[]> {
  if (!existsSync(join(git.cwd, '.worktreeinclude'))) return [];
  const files = await includedFiles(git);
  return files.map((path) => `sandbox/${Buffer.from(path).toString('latin1')}`);
}

/** Paths are relative to the session folder, one byte per character. */
function ignoredFiles(paths: readonly string[], includedPaths: readonly string[]): IgnoredFiles {
  const ignored = new Set(paths);
  const isBelowIgnored = (path: string) => parentDirectories(path).some((above) => ignored.has(above));
  const wanted = includedPaths.filter((path) => ignored.has(path) || isBelowIgnored(path));
  const included = new Set([...wanted, ...wanted.flatMap(parentDirectories)]);
  return {
    text: paths.length === 0 ? '' : digest([...ignored, '', ...included]),
    leavesOut: (path) =>
      !included.has(path) && (ignored.has(path) || (included.size > 0 && isBelowIgnored(path))),
  };
}

function digest(paths: readonly string[]): string {
  return createHash('sha1').update(paths.join('\0'), 'latin1').digest('hex');
}
