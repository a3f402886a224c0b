/**
 * One synchronous walk over a session folder: lstat of everything, content of nothing. Links are never followed, `.git`
 * entries never entered. Names are bytes: strings hold one byte per character, and only where a path is not plain ASCII
 * does it go to the system as a Buffer.
 */
import { constants, lstatSync, readdirSync, type Stats } from 'node:fs';
import { systemPath } from '../../disk/long-path.ts';
import { errorCode } from '../../errors.ts';
import { failureReason } from '../../snapshot/failure.ts';
import { IGNORED } from '../../snapshot/ignore-file.ts';
import type { StatData } from '../stat-cache/scan-table.ts';

/** Told of everything in the order of the walk. Paths are relative to the session folder. */
export interface Visitor {
  /** A regular file or a symbolic link. */
  readonly file: (path: string, stat: StatData) => void;
  readonly directory: (path: string, stat: Stats, empty: boolean) => void;
  /** Left out by rule. */
  readonly skipped: (path: string, reason: string) => void;
  /** Could not be looked at, nor what is in it. */
  readonly failed: (path: string, reason: string) => void;
  /** Undefined: nothing is ignored. What is in an ignored directory is not looked at. */
  readonly ignores: ((path: string, isDirectory: boolean) => boolean) | undefined;
}

/** `folder` is absolute, one byte per character like everything here. */
export function walk(folder: string, tops: readonly string[], visitor: Visitor): void {
  for (const top of tops) visit(folder, top, visitor);
}

/** Whether a file that a visitor is told of is a regular one, and no link. */
export function isRegular({ mode }: StatData): boolean {
  return (mode & constants.S_IFMT) === constants.S_IFREG;
}

/** A path that a directory is known to hold or to have held, and what is in it. */
export function visitEntry(folder: string, path: string, visitor: Visitor): void {
  if (!path.endsWith('/.git')) visit(folder, path, visitor);
  else if (path !== 'sandbox/.git' && isThere(folder, path))
    visitor.skipped(path, 'belongs to a nested repository');
}

/** The names in a directory; undefined where it is gone or cannot be listed, which the visitor is told. */
export function listDirectory(folder: string, path: string, visitor: Visitor): string[] | undefined {
  try {
    return readdirSync(systemPath(`${folder}/${path}`), 'latin1').sort();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') visitor.failed(path, failureReason('listed', error));
    return undefined;
  }
}

function visit(folder: string, path: string, visitor: Visitor): void {
  let stat: Stats | undefined;
  try {
    stat = lstatSync(systemPath(`${folder}/${path}`), { throwIfNoEntry: false });
  } catch (error) {
    visitor.failed(path, failureReason('looked at', error));
    return;
  }
  if (stat === undefined) return;
  if (visitor.ignores?.(path, stat.isDirectory())) visitor.skipped(path, IGNORED);
  else if (stat.isFile() || stat.isSymbolicLink()) visitor.file(path, stat);
  else if (stat.isDirectory()) {
    const names = listDirectory(folder, path, visitor);
    if (names === undefined) return;
    visitor.directory(path, stat, names.length === 0);
    for (const name of names) visitEntry(folder, `${path}/${name}`, visitor);
  } else visitor.skipped(path, kindOf(stat));
}

function isThere(folder: string, path: string): boolean {
  try {
    return lstatSync(systemPath(`${folder}/${path}`), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // it has a name, at least
  }
}

function kindOf(stat: Stats): string {
  if (stat.isSocket()) return 'is a socket';
  if (stat.isFIFO()) return 'is a named pipe';
  return 'is a device';
}
