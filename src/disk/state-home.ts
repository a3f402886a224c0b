/** XDG_STATE_HOME: where programs keep facts that outlive a restart. */
import { isAbsolute, join } from 'node:path';

/** Undefined if the environment names no home. A relative path does not count, as in the XDG specification. */
export function stateHome(env: NodeJS.ProcessEnv): string | undefined {
  const named = env['XDG_STATE_HOME'];
  if (named !== undefined && isAbsolute(named)) return named;
  return env['HOME'] ? join(env['HOME'], '.local', 'state') : undefined;
}
