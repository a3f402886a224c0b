/** Files in a worktree of the user that a killed git was about to write, or had begun to. */
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { withOpenDirectories } from '../../disk/open-directories.ts';
import { errorCode } from '../../errors.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import { type Git, gitBytes, runGit } from '../../git/run/git.ts';
import { dirtyPaths, type InPlace, removeFile } from './checkout.ts';

interface Version {
  readonly mode: string;
  readonly oid: string;
}

const SUBMODULE = '160000';

/**
 * A git was killed while it checked out a branch at the commit that HEAD has. A file that was set aside goes, so that its
 * place is free; any other one is written again. Files with another content are somebody's, and stay.
 */
export async function mendHalfWritten(
  { git, checkout }: InPlace,
  setAside: ReadonlySet<string>,
): Promise<void> {
  const dirty = (await dirtyPaths(git)).filter(({ isUntracked }) => !isUntracked);
  if (dirty.length === 0) return;
  const listed = await listTree(git, 'HEAD', { recurse: 'files' });
  const versions = new Map(listed.map(({ path, mode, oid }) => [path, { mode, oid }]));
  const begun: string[] = [];
  for (const { path } of dirty) {
    const version = versions.get(path);
    if (version !== undefined && (await isBegun(git, path, version))) begun.push(path);
  }
  for (const path of begun) if (setAside.has(path)) removeFile(checkout, path);
  const input = begun.filter((path) => !setAside.has(path)).map((path) => `${path}\0`);
  if (input.length > 0)
    await runGit(git, ['checkout-index', '--force', '-z', '--stdin'], {
      input: Buffer.from(input.join(''), 'latin1'),
    });
}

/** Whether the file on disk is missing, or the content of `version` or its beginning. */
export async function isBegun(git: Git, path: string, version: Version | undefined): Promise<boolean> {
  if (version?.mode === SUBMODULE) return false;
  const found = readIfThere(git.cwd, path);
  if (found === undefined) return true;
  if (version === undefined) return false;
  const whole =
    version.mode === '120000'
      ? await gitBytes(git, ['cat-file', 'blob', version.oid])
      : await gitBytes(git, ['cat-file', '--filters', `--path=${displayable(path)}`, version.oid]);
  return found !== 'no file' && whole.subarray(0, found.length).equals(found);
}

/** An argument of git is UTF-8; for other names the attributes of no path apply. */
function displayable(path: string): string {
  return Buffer.from(path, 'latin1').toString();
}

function readIfThere(worktree: string, path: string): Buffer | 'no file' | undefined {
  return withOpenDirectories(worktree, (disk) => {
    try {
      const entry = disk.entry(path);
      const stat = lstatSync(entry);
      if (stat.isSymbolicLink()) return readlinkSync(entry, { encoding: 'buffer' });
      return stat.isFile() ? readFileSync(entry) : 'no file';
    } catch (error) {
      return errorCode(error) === 'ENOENT' ? undefined : 'no file'; // such as a link on the way
    }
  });
}
