/**
 * Attached folders that were moved. The name of a store comes from the path of its folder, so a folder with another path has
 * none. Its inode and the time at which it was made tell that it is the same one; a copy has others.
 */
import { type BigIntStats, existsSync, lstatSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { attempt, errorCode } from '../errors.ts';
import { parseSessionFile } from '../filter/session-file.ts';
import { agtDirectory, attachedSessions, recordsDirectory } from '../layout.ts';
import { pause } from '../process/wait.ts';
import type { SessionRecord } from '../session/record.ts';

/** Another folder may be made with the same inode, and within the same tick of the clock, only so soon. */
const JUST_MADE_NS = 2_000_000_000n;

/** For another agt that moves the same store. */
const WAIT_MS = 200;

/** Empty where the file system does not tell when a directory was made, and for one that was made just now. */
export function identityOf(folder: string): Pick<SessionRecord, 'folder_identity'> {
  const stat = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || stat.birthtimeNs <= 0n) return {};
  const age = BigInt(Date.now()) * 1_000_000n - stat.birthtimeNs;
  if (stat.birthtimeNs === stat.ctimeNs && age < JUST_MADE_NS) return {};
  return { folder_identity: nameOf(stat) };
}

/** As above, at any age. */
export function birthOf(folder: string): string | undefined {
  const stat = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
  return stat && nameOf(stat);
}

function nameOf({ ino, birthtimeNs }: BigIntStats): string {
  return `${ino} ${birthtimeNs}`;
}

/**
 * If one of the stores is that of a folder which is `folder` now, it becomes `store`. At its old path there may be nothing,
 * another folder, or a link to the new place.
 */
export function takeOverMoved(stores: readonly string[], folder: string, store: string): void {
  const { folder_identity: identity } = identityOf(folder);
  for (const old of stores) {
    if (isMovedNow(old)) pause(WAIT_MS);
    if (existsSync(store)) return;
    const record = readRecordOf(old);
    if (record?.checkout === undefined) continue;
    const isMoved =
      identity !== undefined &&
      record.folder_identity === identity &&
      identityOf(record.checkout).folder_identity !== identity;
    // A killed agt may have written the new path and not renamed the store.
    if (!isMoved && record.checkout !== folder) continue;
    moveStore(old, record, folder, store);
    return;
  }
}

/**
 * If `store` is that of a folder which is beside `folder` now, it goes there: another folder has been made at the old path.
 * Only a folder that is found counts: one that was deleted and made again keeps its snapshots.
 */
export function giveBackMoved(store: string, folder: string, storeOf: (folder: string) => string): void {
  const record = readRecordOf(store);
  const { folder_identity: identity, checkout } = record ?? {};
  if (record === undefined || identity === undefined || birthOf(folder) === identity) return;
  // A killed agt may have written the new path and not renamed the store.
  const moved = checkout === folder ? findBeside(folder, identity) : checkout;
  if (moved === undefined) return;
  const [own, here] = [storeOf(moved), birthOf(folder)];
  const hasSwapped = existsSync(own) && here !== undefined && readRecordOf(own)?.folder_identity === here;
  // The other folder finds it under any name once its own store is here.
  const place = hasSwapped ? store.replace(/\.git$/, '-moved.git') : own;
  if (!existsSync(place)) moveStore(store, record, moved, place);
}

function findBeside(folder: string, identity: string): string | undefined {
  const parent = dirname(folder);
  return attempt(() => {
    const directories = readdirSync(parent, { withFileTypes: true }).filter((one) => one.isDirectory());
    return directories.map(({ name }) => join(parent, name)).find((path) => birthOf(path) === identity);
  });
}

function isMovedNow(store: string): boolean {
  const [, pid] = MOVING.exec(store) ?? [];
  return pid !== undefined && attempt(() => process.kill(Number(pid), 0)) === true;
}

const MOVING = /-moving-(\d+)\.git$/;

/** The first rename decides between two agts. After a kill, the folder finds the store under any name. */
function moveStore(old: string, record: SessionRecord, folder: string, store: string): void {
  const claimed = old.replace(/(-moving-\d+)?\.git$/, `-moving-${process.pid}.git`);
  try {
    renameSync(old, claimed);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    pause(WAIT_MS);
    return;
  }
  const sandbox = join(attachedSessions(agtDirectory(store)), record.session_id, 'sandbox');
  const path = join(recordsDirectory(agtDirectory(claimed)), `${record.session_id}.json`);
  writeFileAtomic(path, `${JSON.stringify({ ...record, checkout: folder, sandbox }, null, 2)}\n`, {
    durable: true,
  });
  failurePoint('snapshot: move written');
  renameSync(claimed, store);
}

/** Undefined if it cannot be read: such a store is left alone. */
function readRecordOf(store: string): SessionRecord | undefined {
  const directory = recordsDirectory(agtDirectory(store));
  return attempt(() => {
    const [name = ''] = readdirSync(directory).filter((one) => one.endsWith('.json'));
    return parseSessionFile(readFileSync(join(directory, name), 'utf8')) as SessionRecord | undefined;
  });
}
