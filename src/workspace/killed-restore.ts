/** The folder that a killed restore has left between two snapshots: its own half is no work of anybody. */
import { globSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { linkedSandbox } from '../autocommit/observe.ts';
import type { TargetFolder } from '../checkout/folder-writer.ts';
import { isAlive } from '../disk/lock-owner.ts';
import { withDisk } from '../disk/open-directories.ts';
import { parentPath } from '../disk/path-bytes.ts';
import { readCommits } from '../git/objects/commits.ts';
import type { Git } from '../git/run/git.ts';
import { type SessionRecord, sessionFolder } from '../session/record.ts';
import type { Intent } from '../session/state.ts';
import { parseSnapshot, type Snapshot } from '../snapshot/history.ts';
import { diffSnapshots } from '../snapshot/tree.ts';

type RestoreIntent = Extract<Intent, { operation: 'restore' }>;

/** Whether nothing but the restore itself has captured the folder since the restore began. */
export function isNewest(history: readonly Snapshot[], intent: RestoreIntent): boolean {
  const isItsOwn = ({ restored, unfinished }: Snapshot) => (unfinished ?? restored) === intent.snapshot;
  const newestOther = history.find((snapshot) => snapshot.commit === intent.tip || !isItsOwn(snapshot));
  return newestOther?.commit === intent.tip;
}

/** Whether a capture has each file, and HEAD, as before the restore or as the restore leaves it. */
export async function isOnTheWay(git: Git, commit: string, { tip = '', snapshot }: RestoreIntent) {
  const oids = [commit, tip, snapshot];
  const contents = await readCommits(git, oids);
  const [now, ...ends] = oids.map((oid) => parseSnapshot(oid, contents.get(oid) ?? '').head);
  if (!ends.includes(now)) return false;
  const done = await diffSnapshots(git, tip, commit);
  const open = new Set((await diffSnapshots(git, commit, snapshot)).map(({ path }) => path));
  return !done.some(({ path }) => open.has(path));
}

/** One byte per character. */
export function folderPath(record: SessionRecord): string {
  return Buffer.from(sessionFolder(record)).toString('latin1');
}

const TEMPORARY = /^\.agt-(\d+)\.tmp$/;

/** Deletes what a killed restore has left beside the files of its scope. */
export function sweepBeside(record: SessionRecord, { scope }: RestoreIntent): void {
  const tops = new Set(scope.map((path) => path.split('/')[0] as string));
  const left = [...tops].flatMap((top) => {
    const cwd = top === 'sandbox' ? (record.checkout ?? record.sandbox) : join(sessionFolder(record), top);
    const found = globSync('**/.agt-*.tmp', { cwd, exclude: (name) => name === '.git' });
    return found.map((path) => parentPath(`${top}/${Buffer.from(path).toString('latin1')}`));
  });
  sweepTemporary(new Set(left), { path: folderPath(record), linked: linkedSandbox(record) });
}

/** Deletes what a killed agt has left beside the files that it wrote. */
export function sweepTemporary(
  parents: ReadonlySet<string>,
  { path, linked }: Pick<TargetFolder, 'path' | 'linked'>,
): void {
  withDisk(path, linked, (disk) => {
    for (const parent of parents) {
      if (disk.lstat(parent)?.isDirectory() !== true && parent !== linked?.name) continue;
      for (const name of readdirSync(disk.entry(`${parent}/.`), 'latin1')) {
        const pid = TEMPORARY.exec(name)?.[1];
        if (pid !== undefined && !isAlive(Number(pid)))
          rmSync(disk.entry(`${parent}/${name}`), { force: true });
      }
    }
  });
}
