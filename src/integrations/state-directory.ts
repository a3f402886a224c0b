/** The directory of agt's own files about the user's agents: `$XDG_STATE_HOME/agt`, usually `~/.local/state/agt`. */
import { isAbsolute, join } from 'node:path';

/** Undefined without a HOME. A relative XDG_STATE_HOME counts for nothing, as its specification demands. */
export function stateDirectory(env: NodeJS.ProcessEnv): string | undefined {
  const given = env['XDG_STATE_HOME'];
  if (given !== undefined && isAbsolute(given)) return join(given, 'agt');
  return env['HOME'] ? join(env['HOME'], '.local', 'state', 'agt') : undefined;
}

/** What agt knows about the hooks that it has installed. */
export function hooksDirectory(stateDir: string): string {
  return join(stateDir, 'hooks');
}
