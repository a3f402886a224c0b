/**
 * What a fast-import that failed leaves behind: a crash report by its process number, and temporary files in the object
 * store. Those have random names and may as well be those of a fetch at this moment: only what is younger than the
 * process and open in none is taken away. Without /proc nobody can tell; `git gc` takes them then.
 */
import { readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openFiles } from '../../disk/open-files.ts';

/** Absolute. */
export interface Places {
  /** Its `objects/` is where the objects go. */
  readonly commonDir: string;
  /** Of the worktree that git runs in, which is where a report of its crash goes. */
  readonly gitDir: string;
}

/** Reports of processes that ended because agt was killed. The caller holds the lock of the worktree's session. */
export function removeCrashReports(gitDir: string): void {
  for (const name of readdirSync(gitDir)) {
    if (name.startsWith(REPORT)) rmSync(join(gitDir, name), { force: true });
  }
}

const REPORT = 'fast_import_crash_';

/** `since` in milliseconds of the file system's clock, or earlier. */
export function removeTemporaryFiles(
  { commonDir, gitDir }: Places,
  pid: number | undefined,
  since: number,
): void {
  try {
    if (pid !== undefined) rmSync(join(gitDir, `${REPORT}${pid}`), { force: true });
    const young = filesNamed(/^tmp_(pack|idx|rev|obj)_/, realpathSync(join(commonDir, 'objects'))).filter(
      (path) => (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) >= since,
    );
    if (young.length === 0) return;
    const open = openFiles();
    if (open === undefined) return;
    for (const path of young) if (!open.has(path)) rmSync(path, { force: true });
  } catch {
    // what cannot be cleaned up is left to git gc; the reason of the failure is what matters
  }
}

/** Of the pack that git says it could not store: the same content gives the same pack, and its `.keep` is in the way. */
export function removeKeepFile({ commonDir }: Places, stderr: string): void {
  const [, name] = /unable to write file .*\/(pack-[0-9a-f]{40,64})\.(?:pack|idx)/.exec(stderr) ?? [];
  if (name !== undefined) rmSync(join(commonDir, 'objects', 'pack', `${name}.keep`), { force: true });
}

/** `.keep` files that a fast-import holds while no ref leads to its pack; those that people write say something else. */
function keepFiles(objects: string): string[] {
  return readdirSync(join(objects, 'pack'))
    .filter((name) => name.endsWith('.keep'))
    .map((name) => join(objects, 'pack', name))
    .filter((path) => readFileSync(path, 'latin1').trim() === 'fast-import');
}

/** What a git leaves in the object store `objects` that was killed: fast-import, repack, or one that writes a batch. */
export function abandonedFiles(objects: string): string[] {
  const stores = readdirSync(objects).filter((name) => name.startsWith('tmp_objdir-'));
  const files = filesNamed(/^(tmp_(pack|idx|rev|obj|mtimes)_|\.tmp-\d+-pack-)/, objects);
  return [...stores.map((name) => join(objects, name)), ...keepFiles(objects), ...files];
}

function filesNamed(pattern: RegExp, objects: string): string[] {
  const directories = readdirSync(objects).filter((name) => name === 'pack' || /^[0-9a-f]{2}$/.test(name));
  return directories.flatMap((directory) =>
    readdirSync(join(objects, directory))
      .filter((name) => pattern.test(name))
      .map((name) => join(objects, directory, name)),
  );
}
