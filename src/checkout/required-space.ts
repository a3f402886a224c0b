/** Checks that a plan fits on the disk before its first step: half a restore on a full disk could not even be repeated. */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { requireSpace } from '../disk/free-space.ts';
import { type LinkedEntry, OpenDirectories } from '../disk/open-directories.ts';
import { parentPath } from '../disk/path-bytes.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import type { Git } from '../git/run/git.ts';
import type { CheckoutPlan } from './plan.ts';

const HINTS = ['agt restored nothing', 'free some space, then run this again'];

/** The bytes that a plan writes to one file system and frees there. */
interface Share {
  /** A directory of it, as Node has it. */
  readonly path: string | Buffer;
  written: number;
  largest: number;
  freed: number;
}

/** `folder` is absolute; `linked` as in a TargetFolder. @throws AgtError if the plan does not fit. */
export async function requireSpaceFor(git: Git, plan: CheckoutPlan, folder: string, linked?: LinkedEntry) {
  if (plan.writes.length === 0) return;
  const oids = plan.writes.map(({ oid }) => oid);
  const sizes = (await findObjects(git, oids)).map((object) => object?.size ?? 0);
  for (const { path, written, largest, freed } of sharesOf(plan, sizes, new Shares(folder, linked))) {
    // A file is written before the one that it replaces is gone.
    if (written > 0) requireSpace(path, Math.max(0, written + largest - freed), HINTS);
  }
}

function sharesOf(
  { deletions, writes }: CheckoutPlan,
  sizes: readonly number[],
  shares: Shares,
): Iterable<Share> {
  for (const path of deletions) shares.of(path).freed += shares.bytesOnDisk(path);
  for (const [i, { path, isNew }] of writes.entries()) {
    const share = shares.of(path);
    const size = sizes[i] ?? 0;
    share.written += size;
    share.largest = Math.max(share.largest, size);
    if (!isNew) share.freed += shares.bytesOnDisk(path);
  }
  return shares.close();
}

/** The unit of `st_blocks`, in bytes. */
const BLOCK = 512;

/** statfs takes no longer path. Nobody mounts a file system so deep. */
const LONGEST_FOR_STATFS = 4096;

class Shares {
  /** The folder, or the nearest directory above that exists. */
  private readonly existing: string;
  private readonly disk: OpenDirectories;
  private readonly byDevice = new Map<number, Share>();
  private readonly byDirectory = new Map<string, Share>();

  constructor(folder: string, linked: LinkedEntry | undefined) {
    this.existing = existingDirectory(folder);
    this.disk = new OpenDirectories(Buffer.from(folder).toString('latin1'), linked);
  }

  /** The share of the file system that a path is on, or would be on. */
  of(path: string): Share {
    const directory = parentPath(path);
    const known = this.byDirectory.get(directory);
    if (known !== undefined) return known;
    const stat = directory === '' ? statSync(this.existing) : this.disk.lstat(directory);
    const share = stat?.isDirectory() ? this.onDevice(stat.dev, directory) : this.of(directory);
    this.byDirectory.set(directory, share);
    return share;
  }

  bytesOnDisk(path: string): number {
    const stat = this.disk.lstat(path);
    return stat?.nlink === 1 ? stat.blocks * BLOCK : 0;
  }

  close(): Iterable<Share> {
    this.disk.close();
    return this.byDevice.values();
  }

  private onDevice(device: number, directory: string): Share {
    const whole = Buffer.concat([Buffer.from(`${this.existing}/`), Buffer.from(directory, 'latin1')]);
    const path = whole.length < LONGEST_FOR_STATFS ? whole : this.existing;
    const share = this.byDevice.get(device) ?? { path, written: 0, largest: 0, freed: 0 };
    this.byDevice.set(device, share);
    return share;
  }
}

function existingDirectory(folder: string): string {
  return existsSync(folder) ? folder : existingDirectory(dirname(folder));
}
