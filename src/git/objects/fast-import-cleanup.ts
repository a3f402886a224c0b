/**
 * Removes the files that a failed fast-import leaves: its crash report, which is named by process id, and temporary files
 * in the object store. Temporary files have random names, so they may belong to a fetch that is running now: agt deletes
 * only those that are younger than the fast-import and that no process has open. Without /proc agt cannot see which files
 * are open and leaves them to `git gc`.
 */
import { readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openFiles } from '../../disk/processes.ts';

/** Absolute paths. */
export interface ImportDirectories {
  /** git stores the objects in its `objects/`. */
  readonly commonDir: string;
  /** The git directory of the worktree in which git runs. If fast-import crashes, it writes its report there. */
  readonly gitDir: string;
}

const REPORT_PREFIX = 'fast_import_crash_';

/** Removes the reports of fast-imports that ended because agt was killed. The caller holds the session's lock. */
export function removeCrashReports(gitDir: string): void {
  for (const name of readdirSync(gitDir)) {
    if (name.startsWith(REPORT_PREFIX)) rmSync(join(gitDir, name), { force: true });
  }
}

/** `since` is when the fast-import began or earlier, in milliseconds by the clock of the file system. */
export function removeTemporaryFiles(
  { commonDir, gitDir }: ImportDirectories,
  pid: number | undefined,
  since: number,
): void {
  try {
    if (pid !== undefined) rmSync(join(gitDir, `${REPORT_PREFIX}${pid}`), { force: true });
    const young = filesNamed(/^tmp_(pack|idx|rev|obj)_/, realpathSync(join(commonDir, 'objects'))).filter(
      (path) => (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) >= since,
    );
    if (young.length === 0) return;
    const open = openFiles();
    if (open === undefined) return;
    for (const path of young) if (!open.has(path)) rmSync(path, { force: true });
  } catch {
    // `git gc` deletes what is left; the user needs to see why the fast-import failed, not this error
  }
}

/**
 * Removes the `.keep` file of a pack that git could not store. The next attempt has the same content, so its pack has the
 * same name, and git refuses to overwrite the `.keep` file.
 */
export function removeKeepFile({ commonDir }: ImportDirectories, stderr: string): void {
  const [, name] = /unable to write file .*\/(pack-[0-9a-f]{40,64})\.(?:pack|idx)/.exec(stderr) ?? [];
  if (name !== undefined) rmSync(join(commonDir, 'objects', 'pack', `${name}.keep`), { force: true });
}

/** Files that a killed git left in the object store: fast-import, repack, or a git that was writing a batch of objects. */
export function abandonedFiles(objectsDir: string): string[] {
  const stores = readdirSync(objectsDir).filter((name) => name.startsWith('tmp_objdir-'));
  const files = filesNamed(/^(tmp_(pack|idx|rev|obj|mtimes)_|\.tmp-\d+-pack-)/, objectsDir);
  return [...stores.map((name) => join(objectsDir, name)), ...keepFiles(objectsDir), ...files];
}

/** The `.keep` files of fast-import, which protect a pack until a ref leads to it. Those of users have another content. */
function keepFiles(objectsDir: string): string[] {
  return readdirSync(join(objectsDir, 'pack'))
    .filter((name) => name.endsWith('.keep'))
    .map((name) => join(objectsDir, 'pack', name))
    .filter((path) => readFileSync(path, 'latin1').trim() === 'fast-import');
}

function filesNamed(pattern: RegExp, objectsDir: string): string[] {
  const directories = readdirSync(objectsDir).filter((name) => name === 'pack' || /^[0-9a-f]{2}$/.test(name));
  return directories.flatMap((directory) =>
    readdirSync(join(objectsDir, directory))
      .filter((name) => pattern.test(name))
      .map((name) => join(objectsDir, directory, name)),
  );
}
