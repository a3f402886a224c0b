/** With `AGT_TRACE=1`, prints every command line that agt runs on stderr, as `GIT_TRACE` does for git's own. */
import { writeSync } from 'node:fs';
import { attempt } from '../../errors.ts';
import { shellQuote } from '../../process/shell-quote.ts';

export function traceCommand(env: NodeJS.ProcessEnv, path: string, args: readonly string[]): void {
  const wanted = env['AGT_TRACE'];
  if (wanted === undefined || ['', '0', 'false', 'no'].includes(wanted)) return;
  // If standard error is closed, nobody reads the trace.
  attempt(() => writeSync(2, `agt: trace: ${[path, ...args].map(shellQuote).join(' ')}\n`));
}
