/**
 * Writes to a standard stream. If its reader has gone, as in `agt session log | head`, the command still does its work.
 * Node's own streams take milliseconds to load, so they only come in where somebody has made the pipe non-blocking.
 */
import { writeSync } from 'node:fs';
import { errorCode } from '../errors.ts';
import { once } from '../once.ts';

export function writer(fd: 1 | 2): (text: string) => void {
  let hasReader = true;
  let isFull = false;
  const onError = (error: unknown) => {
    if (errorCode(error) !== 'EPIPE') throw error;
    hasReader = false;
  };
  const stream = once(() => (fd === 1 ? process.stdout : process.stderr).on('error', onError));
  return (text) => {
    if (!hasReader) return;
    let rest: Uint8Array = Buffer.from(text);
    try {
      while (rest.length > 0 && !isFull) rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') return onError(error);
      isFull = true;
    }
    if (isFull) stream().write(rest);
  };
}
