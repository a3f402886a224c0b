/**
 * The owners of files that a restore writes. A file that agt replaces keeps its owner, as far as the system allows it. A
 * file that root adds belongs to the owner of the directory, so that the agent can still write it. Nobody gains rights.
 */
import { fchownSync, fstatSync, lchownSync, lstatSync, type Stats } from 'node:fs';
import { errorCode } from '../errors.ts';

export type Owner = Pick<Stats, 'uid' | 'gid'>;

const SET_USER_ID = 0o4000;
const SET_GROUP_ID = 0o2000;

/** Whether a program with these bits runs with the rights of its owner or group. */
export function givesRights(bits: number): boolean {
  return (bits & (SET_USER_ID | SET_GROUP_ID)) !== 0;
}

/** `before` is the owner that the file had; undefined if nobody knows. On a directory the bits give no rights. */
export function allowedBits(bits: number, now: Stats, before: Owner | undefined): number {
  if (now.isDirectory()) return bits;
  const denied = (before?.uid === now.uid ? 0 : SET_USER_ID) | (before?.gid === now.gid ? 0 : SET_GROUP_ID);
  return bits & ~denied;
}

/** The owner that a new path gets from the directory above; undefined unless root makes it. */
export function ownerOf(directory: () => Stats | undefined): Owner | undefined {
  return process.geteuid?.() === 0 ? directory() : undefined;
}

/** A link is given away itself. */
export function giveTo(path: string | Buffer, owner: Owner | undefined): void {
  if (owner !== undefined && !isOwner(lstatSync(path), owner))
    unlessDenied(() => lchownSync(path, owner.uid, owner.gid));
}

export function openGiveTo(fd: number, owner: Owner | undefined): void {
  if (owner !== undefined && !isOwner(fstatSync(fd), owner))
    unlessDenied(() => fchownSync(fd, owner.uid, owner.gid));
}

function isOwner({ uid, gid }: Stats, owner: Owner): boolean {
  return uid === owner.uid && gid === owner.gid;
}

/** Only root may give files away, and some file systems have no owners. */
function unlessDenied(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!['EPERM', 'EINVAL', 'ENOSYS'].includes(errorCode(error))) throw error;
  }
}
