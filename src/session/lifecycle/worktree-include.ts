/**
 * `.worktreeinclude`: a file of gitignore patterns at the top of the user's worktree. What it names and git ignores
 * (`.env`, local settings) is copied into a new sandbox, by reflink where the file system can. Tracked files come with
 * the checkout; files that are neither tracked nor ignored are the user's own work and stay where they are.
 */
import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import ignore from 'ignore';
import { errorCode } from '../../errors.ts';
import { listWorktrees } from '../../git/files/worktree-registrations.ts';
import { gitBytes, inDirectory } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';

const FILE = '.worktreeinclude';

/** Paths that were copied, relative to the sandbox. */
export async function copyIncludedFiles(repository: Repository, sandbox: string): Promise<string[]> {
  const source = repository.worktree ?? (await listWorktrees(repository.git)).find(({ bare }) => !bare)?.path;
  if (source === undefined || source === sandbox) return [];
  const patterns = readPatterns(join(source, FILE));
  if (patterns === undefined) return [];
  const wanted = ignore().add(patterns);
  const listed = await gitBytes(inDirectory(repository.git, source), [
    'ls-files',
    '--others',
    '--ignored',
    '--exclude-standard',
    '-z',
  ]);
  const paths = listed
    .toString()
    .split('\0')
    .filter((path) => path !== '' && wanted.ignores(path));
  return paths.filter((path) => copyEntry(join(source, path), join(sandbox, path)));
}

function readPatterns(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errorCode(error))) return undefined;
    throw error;
  }
}

function copyEntry(from: string, to: string): boolean {
  const stat = lstatSync(from, { throwIfNoEntry: false });
  if (stat === undefined || !(stat.isFile() || stat.isSymbolicLink())) return false;
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return false;
  mkdirSync(dirname(to), { recursive: true });
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  return true;
}
