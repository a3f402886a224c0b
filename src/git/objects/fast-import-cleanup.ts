/**
 * Removes what a failed fast-import leaves: its crash report, and temporary files in the object store. Those have
 * random names and may belong to a fetch that is running now: agt deletes only those that are younger than the
 * fast-import and that no process has open. Where the system does not tell, it leaves them to `git gc`.
 */
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { openFiles } from '../../disk/processes.ts';
import { attempt } from '../../errors.ts';
import type { GitDirectories } from '../files/discover-repository.ts';
import { objectFiles } from './object-store.ts';

/** If fast-import crashes, it writes its report into the git directory of the worktree in which it runs. */
const REPORT_PREFIX = 'fast_import_crash_';
/** Followed by the process id of agt. The file holds the time when its fast-import began. */
const NOTE_PREFIX = 'agt-import.';

/** Says that a fast-import runs, so that the next one can remove what this one leaves if it is killed. */
export function noteImport(gitDir: string, since: number): void {
  // Without the note `git gc` removes it, later.
  attempt(() => writeFileSync(notePath(gitDir), String(since)));
}

export function forgetImport(gitDir: string): void {
  rmSync(notePath(gitDir), { force: true });
}

function notePath(gitDir: string): string {
  return join(gitDir, NOTE_PREFIX + process.pid);
}

/** Removes what killed fast-imports left: reports, and parts of packs. The caller holds the session's lock. */
export function removeAbandoned(directories: GitDirectories): void {
  for (const name of readdirSync(directories.gitDir)) {
    const path = join(directories.gitDir, name);
    if (name.startsWith(REPORT_PREFIX)) rmSync(path, { force: true });
    if (!name.startsWith(NOTE_PREFIX)) continue;
    const since = Number(readFileSync(path, 'utf8'));
    if (removeTemporaryFiles(directories, undefined, since)) rmSync(path, { force: true });
  }
}

/** `since`: milliseconds by the file system's clock, not after the start. False if some are still in use. */
export function removeTemporaryFiles(
  { commonDir, gitDir }: GitDirectories,
  pid: number | undefined,
  since: number,
): boolean {
  try {
    if (pid !== undefined) rmSync(join(gitDir, `${REPORT_PREFIX}${pid}`), { force: true });
    const young = filesNamed(/^tmp_(pack|idx|rev|obj)_/, realpathSync(join(commonDir, 'objects'))).filter(
      (path) => isOurs(path, since),
    );
    if (young.length === 0) return true;
    const open = openFiles();
    const closed = young.filter((path) => open?.has(path) === false);
    for (const path of closed) rmSync(path, { force: true });
    return closed.length === young.length;
  } catch {
    // `git gc` deletes what is left; the user needs to see why the fast-import failed, not this error
    return false;
  }
}

/** agt does not see which files a process of another user has open. */
function isOurs(path: string, since: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && stat.ctimeMs >= since && stat.uid === process.getuid?.();
}

/** git leaves the `.keep` file of a pack that it could not store, and would refuse that pack later. */
export function removeKeepFile({ commonDir }: GitDirectories, stderr: string): void {
  const [, name] = /unable to write file .*\/(pack-[0-9a-f]{40,64})\.(?:pack|idx)/.exec(stderr) ?? [];
  if (name !== undefined) rmSync(join(commonDir, 'objects', 'pack', `${name}.keep`), { force: true });
}

/** Files that a killed git left in the object store: fast-import, repack, or a git that was writing a batch of objects. */
export function abandonedFiles(objectsDir: string): string[] {
  const stores = readdirSync(objectsDir).filter((name) => name.startsWith('tmp_objdir-'));
  const files = filesNamed(/^(tmp_(pack|idx|rev|obj|mtimes)_|\.tmp-\d+-pack-)/, objectsDir);
  return [...stores.map((name) => join(objectsDir, name)), ...keepFiles(objectsDir), ...files];
}

/**
 * The `.keep` files of fast-import, which protect a pack until a ref leads to it. Those of users have another
 * content; an empty one may be a user's, unless its pack is not there yet.
 */
function keepFiles(objectsDir: string): string[] {
  return filesNamed(/\.keep$/, objectsDir).filter((path) => {
    const content = readFileSync(path, 'latin1').trim();
    return content === 'fast-import' || (content === '' && !existsSync(path.replace(/keep$/, 'pack')));
  });
}

function filesNamed(pattern: RegExp, objectsDir: string): string[] {
  const files = objectFiles(objectsDir).filter((file) => pattern.test(basename(file)));
  return files.map((file) => join(objectsDir, file));
}
