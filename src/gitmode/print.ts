/** Prints to standard output in git's place. */
import { writeSync } from 'node:fs';
import { errorCode } from '../errors.ts';

/** Writes all bytes, also to a slow reader; a reader that is gone ends the program by SIGPIPE, as it ends git. */
export function printLatin1(text: string): void {
  const bytes = Buffer.from(text, 'latin1');
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if (errorCode(error) === 'EPIPE') process.kill(process.pid, 'SIGPIPE');
      if (errorCode(error) !== 'EAGAIN') return;
    }
  }
}
