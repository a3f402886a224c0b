/**
 * Replaces a whole file: written under a temporary name, flushed, renamed. A reader sees the old content or the new one,
 * never a part. The caller holds the lock for the file, so one temporary name is enough, and the next write removes what
 * a crash leaves.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { nameFile } from '../errors.ts';
import { failurePoint } from './failure-point.ts';
import { tryToMakeDirectories } from './make-directories.ts';

export interface WriteOptions {
  /** Flushes the directory too, so that the new content survives a power cut once this returns. */
  readonly durable?: boolean;
  /** Flushes nothing: readers recognize a damaged file and do without it. */
  readonly cache?: boolean;
}

type FileContent = string | Uint8Array | readonly Uint8Array[];

export function writeFileAtomic(path: string, content: FileContent, options: WriteOptions = {}): void {
  prepareFile(path, content, options).replace();
}

/** New content under its temporary name. */
export interface PreparedFile {
  readonly replace: () => void;
  readonly discard: () => void;
}

export function prepareFile(
  path: string,
  content: FileContent,
  { durable = false, cache = false }: WriteOptions = {},
): PreparedFile {
  tryToMakeDirectories(dirname(path));
  const temporary = `${path}.tmp`;
  const discard = () => rmSync(temporary, { force: true });
  const orDiscard = (action: () => void) => {
    try {
      action();
    } catch (error) {
      discard();
      throw nameFile(error, path);
    }
  };
  orDiscard(() => {
    writeParts(temporary, content, { flush: !cache });
    failurePoint('state file: written');
  });
  const replace = () =>
    orDiscard(() => {
      renameSync(temporary, path);
      if (durable) flush(dirname(path));
    });
  return { replace, discard };
}

function writeParts(path: string, content: FileContent, { flush }: { flush: boolean }): void {
  const parts = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
  // An agent may have put a link to another file there, also a hard one.
  rmSync(path, { force: true });
  const fd = openSync(path, 'wx', 0o644);
  try {
    for (const part of parts) writeFileSync(fd, part);
    if (flush) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Returns when a file or directory is on the disk. */
export function flush(path: string | Buffer): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
