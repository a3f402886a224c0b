/**
 * Replaces a file whole: a temporary name, flushed, renamed. A reader sees the old content or the new, never a part. The
 * caller holds the lock that goes with the file, so that one temporary name is enough, and a crash leaves nothing that the
 * next write does not take away.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { failurePoint } from './failure-point.ts';

export interface WriteOptions {
  /** The name, too, is on disk when this returns. */
  readonly durable?: boolean;
  /** Not even the content needs to be on disk: it says itself whether it is whole. */
  readonly cache?: boolean;
}

export function writeFileAtomic(
  path: string,
  content: string | Uint8Array | readonly Uint8Array[],
  options: WriteOptions = {},
): void {
  prepareFile(path, content, options).replace();
}

/** A content that is written already, under its temporary name. */
export interface PreparedFile {
  readonly replace: () => void;
  readonly discard: () => void;
}

export function prepareFile(
  path: string,
  content: string | Uint8Array | readonly Uint8Array[],
  { durable = false, cache = false }: WriteOptions = {},
): PreparedFile {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.tmp`;
  const discard = () => rmSync(temporary, { force: true });
  const orDiscard = (action: () => void) => {
    try {
      action();
    } catch (error) {
      discard();
      throw error;
    }
  };
  orDiscard(() => {
    const fd = openSync(temporary, 'w', 0o644);
    try {
      for (const bytes of partsOf(content))
        for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      if (!cache) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    failurePoint('state file: written');
  });
  const replace = () =>
    orDiscard(() => {
      renameSync(temporary, path);
      if (durable) flushDirectory(dirname(path));
    });
  return { replace, discard };
}

function partsOf(content: string | Uint8Array | readonly Uint8Array[]): readonly Uint8Array[] {
  if (typeof content === 'string') return [Buffer.from(content)];
  return content instanceof Uint8Array ? [content] : content;
}

function flushDirectory(path: string): void {
  if (process.platform === 'win32') return; // directories cannot be opened there
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
