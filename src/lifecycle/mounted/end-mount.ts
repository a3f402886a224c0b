/** Ends a mounted snapshot: unmounts it, or removes the copy, then everything that agt made for it. Can be done again. */
import { chmodSync, lstatSync, rmdirSync, rmSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { failurePoint } from '../../disk/failure-point.ts';
import { entriesOf } from '../../disk/folder-entries.ts';
import { identify, processIsGone } from '../../disk/lock-owner.ts';
import { refuseMounts } from '../../disk/mounts.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { listProcesses } from '../../disk/processes.ts';
import { removeAt } from '../../disk/remove-tree.ts';
import { AgtError, errorCode, FEW, listSome } from '../../errors.ts';
import { mountedRef } from '../../filter/agent-refs.ts';
import { runGit } from '../../git/run/git.ts';
import { mountFile } from '../../layout.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { runTool } from '../../providers/provider.ts';
import { isTemporaryEntry } from '../../snapshot/folders.ts';
import { IGNORE_FILE } from '../../snapshot/ignore-file.ts';
import { readSnapshotTree } from '../../snapshot/tree.ts';
import { removeEmptyParents } from '../delete-folder.ts';
import { isMounted, type MountPlace, type MountRecord } from './mount-record.ts';

/**
 * `lazy`: detach it now, although programs still have files of it open. `force`: delete also files of a copy that have changed.
 * @throws AgtError if it is in use, or a copy has files that are not of the snapshot. Those stay.
 */
export async function endMount(
  place: MountPlace,
  record: MountRecord,
  { lazy, force } = { lazy: false, force: false },
): Promise<void> {
  if (record.way === 'copy') await removeCopy(place, record, force);
  else {
    // One of a killed agt serves nobody any more, and a program that is in it would keep it for ever.
    const isDead = record.process === undefined || processIsGone(record.process);
    if (isMounted(place.agtDir, record)) await unmount(record.directory, lazy || isDead);
    else askServer(record);
    failurePoint('unmount: unmounted');
    if (record.made_directory) removeDirectory(record);
    if (await isServedOn(record, lazy ? 0 : LONGEST_WAIT_MS)) return; // its server does the rest when the last program has left
  }
  await forgetMount(place, record);
}

/** Nothing is mounted any more: removes the directory, the ref and the record. */
export async function forgetMount(place: MountPlace, record: MountRecord): Promise<void> {
  if (record.made_directory) removeDirectory(record);
  failurePoint('unmount: directory removed');
  await runGit(place.git, ['update-ref', '-d', mountedRef(record.name)]);
  failurePoint('unmount: ref deleted');
  rmSync(mountFile(place.agtDir, record.name), { force: true });
}

/** It may be mounted where this process cannot see it: in another container. Its server can unmount it. */
function askServer({ process: server, served }: MountRecord): void {
  const isRunning = served && server !== undefined && identify(server.pid).start === server.start;
  if (isRunning && !processIsGone(server)) process.kill(server.pid, 'SIGTERM');
}

export async function unmount(directory: string, lazy: boolean): Promise<void> {
  try {
    // -i: no helper of the system knows this file system.
    await runTool('umount', ['-i', ...(lazy ? ['-l'] : []), directory]);
  } catch (error) {
    if (!(error instanceof AgtError)) throw error;
    const reason = error.message.replace(/^umount .* failed: (umount: )?/, '').replace(/\.$/, '');
    throw new AgtError(`cannot unmount ${directory}: ${reason}`, {
      hints: hintsFor(directory, error.message),
      cause: error,
    });
  }
}

function hintsFor(directory: string, message: string): string[] {
  if (!/busy/.test(message)) return [`as root: umount ${shellQuote(directory)}`];
  const users = (listProcesses() ?? []).filter(
    ({ cwd }) => cwd === directory || cwd?.startsWith(`${directory}/`),
  );
  const named = users.map(({ pid, words }) => `${pid} (${words[0] ?? ''})`).join(', ');
  return [
    ...(named === '' ? [] : [`these processes work there: ${named}`]),
    `detach it all the same: agt session umount --lazy ${shellQuote(directory)}`,
  ];
}

const LONGEST_WAIT_MS = 5_000;
const POLL_MS = 10;

/** Whether the server goes on: programs have files open in a folder that is detached. */
async function isServedOn({ process: server }: MountRecord, longestMs: number): Promise<boolean> {
  if (server === undefined || server.pid === process.pid) return false;
  const deadline = Date.now() + longestMs;
  while (!processIsGone(server)) {
    if (Date.now() > deadline) return true;
    await sleep(POLL_MS);
  }
  return false;
}

export function removeDirectory({ directory, made_parents = [] }: MountRecord): void {
  for (const path of [directory, ...made_parents]) {
    try {
      rmdirSync(path);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') return; // somebody has put files there
    }
  }
  const parent = dirname(directory);
  if (basename(parent) === 'mounts') removeEmptyParents(parent);
}

/** Deletes what agt has written. */
async function removeCopy(place: MountPlace, record: MountRecord, force: boolean): Promise<void> {
  const { directory } = record;
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const isOwn = await ownFiles(place, record);
  refuseMounts(directory);
  if (record.made_directory) chmodSync(directory, 0o755); // the copy is read-only
  const top = Buffer.from(directory).toString('latin1');
  const left = entriesOf(top).flatMap(({ name }) => {
    const pathOf = (path: string) => (path === '' ? name : `${name}/${path}`);
    return removeAt(`${top}/${name}`, (path, stat) => force || isOwn(pathOf(path), stat)).map(pathOf);
  });
  if (left.length === 0) return;
  throw new AgtError(`${directory} has files that are not of the snapshot; agt does not delete them`, {
    hints: [
      `they are: ${listSome(left.map(displayPath), FEW)}`,
      `move them away, or delete them as well: agt session umount --force ${shellQuote(directory)}`,
    ],
  });
}

/** A killed agt may have left a part of a copy: then the names decide. */
async function ownFiles(
  { git }: MountPlace,
  { commit, complete_at: complete }: MountRecord,
): Promise<(path: string, stat: Stats) => boolean> {
  if (complete !== undefined) return (_, stat) => stat.ctimeMs <= complete;
  const files = await readSnapshotTree(git, commit);
  return (path) => files.has(path) || path === IGNORE_FILE || isTemporaryEntry(basename(path));
}
