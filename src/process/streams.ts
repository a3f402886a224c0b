/** The standard streams, without the modules that a stream of Node would load: they take milliseconds. */
import { fstatSync, readSync, statSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { isatty } from 'node:tty';
import { attempt, errorCode } from '../errors.ts';
import { once } from '../once.ts';
import { pause } from './wait.ts';

/** `isatty` loads node:tty: a file, a pipe or /dev/null need not wait for it. */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  const found = attempt(() => {
    const stat = fstatSync(fd);
    return stat.isCharacterDevice() && stat.rdev !== statSync(devNull).rdev && isatty(fd);
  });
  return found === true; // it may be closed
}

/** Bytes for what may be no UTF-8. */
export type Text = string | Uint8Array;

/**
 * Writes to a stream. If its reader has gone, as in `agt session log | head`, the command still does its work, and may
 * ask: the answer is false then. Node's own stream only comes in where somebody has made the pipe non-blocking.
 */
export function writer(fd: 1 | 2): (text: Text) => unknown {
  let hasReader = true;
  let isFull = false;
  const onError = (error: unknown) => {
    if (errorCode(error) !== 'EPIPE') throw error;
    hasReader = false;
  };
  const stream = once(() => (fd === 1 ? process.stdout : process.stderr).on('error', onError));
  return (text) => {
    if (!hasReader) return false;
    let rest: Uint8Array = typeof text === 'string' ? Buffer.from(text) : text;
    try {
      while (rest.length > 0 && !isFull) rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') isFull = true;
      else onError(error);
    }
    if (isFull) stream().write(rest);
    return hasReader;
  };
}

const CHUNK = 64 * 1024;
const PAUSE_MS = 5;

/** Standard input, to its end. */
export function readStandardInput(): string {
  const parts: Buffer[] = [];
  for (;;) {
    const buffer = Buffer.allocUnsafe(CHUNK);
    const length = readSome(buffer);
    if (length === 0) return Buffer.concat(parts).toString();
    parts.push(buffer.subarray(0, length));
  }
}

/** Zero at the end. The other end of a pipe may have made it non-blocking: then agt waits. */
function readSome(buffer: Buffer): number {
  for (;;) {
    try {
      return readSync(0, buffer);
    } catch (error) {
      if (errorCode(error) === 'EOF') return 0;
      if (errorCode(error) !== 'EAGAIN') throw error;
    }
    pause(PAUSE_MS);
  }
}
