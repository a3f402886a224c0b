/** Prints the output of a command line by line, each after a prefix, so that several commands share a terminal. */
import type { Readable, Writable } from 'node:stream';

const NEWLINE = 0x0a;

export function printWithPrefix(from: Readable | null, to: Writable, prefix: string): void {
  if (from === null) return;
  const start = Buffer.from(prefix);
  let rest: Buffer[] = [];
  const print = (line: readonly Buffer[]) => {
    // The next bytes wait in the pipe until the reader has taken these.
    if (to.write(Buffer.concat([start, ...line]))) return;
    from.pause();
    to.once('drain', () => from.resume());
  };
  to.setMaxListeners(0);
  // Without a reader the command ends by SIGPIPE, as it would in a pipeline of its own.
  to.on('error', () => from.destroy());
  from.on('data', (bytes: Buffer) => {
    let begin = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, begin)) {
      print([...rest, bytes.subarray(begin, end + 1)]);
      rest = [];
      begin = end + 1;
    }
    if (begin < bytes.length) rest.push(bytes.subarray(begin));
  });
  from.on('end', () => {
    if (rest.length > 0) print([...rest, Buffer.from('\n')]);
  });
}
