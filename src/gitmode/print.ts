/** Prints to standard output in git's place. */
import { writeSync } from 'node:fs';
import { EXIT, errorCode, systemReason } from '../errors.ts';
import { endBySignal } from '../git/run/become.ts';

/**
 * Writes all bytes, also to a slow reader; a reader that is gone ends the program by SIGPIPE, as it ends git. Where nothing
 * can be written, it ends with git's message.
 */
export function printLatin1(text: string): void {
  const bytes = Buffer.from(text, 'latin1');
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if (errorCode(error) === 'EPIPE') endBySignal('SIGPIPE');
      if (errorCode(error) === 'EAGAIN') continue;
      const reason = systemReason(error).replace(/^./, (letter) => letter.toUpperCase());
      writeSync(2, `fatal: write failure on standard output: ${reason}\n`);
      process.exit(EXIT.git);
    }
  }
}
