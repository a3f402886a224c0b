/**
 * One synchronous walk over a session folder: lstat of everything, content of nothing. Links are never followed, `.git`
 * entries never entered. Names are bytes: strings hold one byte per character, and only where a path is not plain ASCII
 * does it go to the system as a Buffer.
 */
import { constants, lstatSync, readdirSync, type Stats } from 'node:fs';
import { errorCode } from '../errors.ts';
import { failureReason } from './failure.ts';
import { IGNORED } from './ignore-file.ts';
import type { StatData } from './scan-table.ts';
import { replay, type WalkRecord } from './walk-record.ts';

/** Told of everything in the order of the walk. Paths are relative to the session folder. */
export interface Visitor {
  /** A regular file or a symbolic link. */
  readonly file: (path: string, stat: StatData) => void;
  readonly directory: (path: string, mode: number, empty: boolean) => void;
  /** Left out by rule. */
  readonly skipped: (path: string, reason: string) => void;
  /** Could not be looked at, nor what is in it. */
  readonly failed: (path: string, reason: string) => void;
  /** Undefined: nothing is ignored. What is in an ignored directory is not looked at. */
  readonly ignores: ((path: string, isDirectory: boolean) => boolean) | undefined;
}

/** What has been walked already, by directory (walk-ahead.ts). */
export type Ahead = ReadonlyMap<string, WalkRecord>;

/** `folder` is absolute, one byte per character like everything here. */
export function walk(folder: string, tops: readonly string[], visitor: Visitor, ahead?: Ahead): void {
  for (const top of tops) visit(folder, top, visitor, ahead);
}

/** Whether a file that a visitor is told of is a regular one, and no link. */
export function isRegular({ mode }: StatData): boolean {
  return (mode & constants.S_IFMT) === constants.S_IFREG;
}

/** A path as the file system calls take it. */
export function systemPath(path: string): string | Buffer {
  return /[\x80-\xff]/.test(path) ? Buffer.from(path, 'latin1') : path;
}

/** A directory and what is in it. `mode` is the directory's st_mode. */
export function enter(folder: string, path: string, mode: number, visitor: Visitor, ahead?: Ahead): void {
  const record = ahead?.get(path);
  if (record !== undefined) {
    replay(record, visitor);
    return;
  }
  let names: string[];
  try {
    names = readdirSync(systemPath(`${folder}/${path}`), 'latin1');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') visitor.failed(path, failureReason('listed', error));
    return;
  }
  visitor.directory(path, mode, names.length === 0);
  for (const name of names.sort()) {
    if (name !== '.git') visit(folder, `${path}/${name}`, visitor, ahead);
    else if (path !== 'sandbox') visitor.skipped(`${path}/.git`, 'belongs to a nested repository');
  }
}

function visit(folder: string, path: string, visitor: Visitor, ahead?: Ahead): void {
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
  else if (stat.isDirectory()) enter(folder, path, stat.mode, visitor, ahead);
  else visitor.skipped(path, kindOf(stat));
}

function kindOf(stat: Stats): string {
  if (stat.isSocket()) return 'is a socket';
  if (stat.isFIFO()) return 'is a named pipe';
  return 'is a device';
}
