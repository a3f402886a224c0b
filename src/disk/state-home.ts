/** XDG_STATE_HOME: where programs keep facts that outlive a restart. */
import { isAbsolute, join } from 'node:path';

/** Undefined if the environment names no home. A relative path does not count, as in the XDG specification. */
export function stateHome(env: NodeJS.ProcessEnv): string | undefined {
  const named = env['XDG_STATE_HOME'];
  if (named !== undefined && isAbsolute(named)) return named;
  return env['HOME'] ? join(env['HOME'], '.local', 'state') : undefined;
}

/** The directory of agt's own files about the user's agents: usually `~/.local/state/agt`. Undefined without a HOME. */
export function stateDirectory(env: NodeJS.ProcessEnv): string | undefined {
  const state = stateHome(env);
  return state && join(state, 'agt');
}

/** Holds agt's knowledge of the hooks that it has installed. `stateDir`: as `stateDirectory`. */
export function hooksDirectory(stateDir: string): string {
  return join(stateDir, 'hooks');
}

/** The script that hooks call (agtmode/front/). */
export function hooksFront(stateDir: string): string {
  return join(hooksDirectory(stateDir), 'agt');
}

/** The shim for agents that work in no session. */
export function hooksBin(stateDir: string): string {
  return join(hooksDirectory(stateDir), 'bin');
}
