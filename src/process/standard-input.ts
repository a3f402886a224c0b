/** Reads standard input to its end, without the modules that a stream would load. */
import { readSync } from 'node:fs';
import { errorCode } from '../errors.ts';
import { pause } from './wait.ts';

const CHUNK = 64 * 1024;
const PAUSE_MS = 5;

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
