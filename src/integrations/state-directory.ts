/** The directory of agt's own files about the user's agents: `$XDG_STATE_HOME/agt`, usually `~/.local/state/agt`. */

import { join } from 'node:path';
import { stateHome } from '../disk/state-home.ts';

/** Undefined without a HOME. */
export function stateDirectory(env: NodeJS.ProcessEnv): string | undefined {
  const state = stateHome(env);
  return state === undefined ? undefined : join(state, 'agt');
}

/** The script that hooks call (agtmode/front/). */
export function hooksFront(stateDir: string): string {
  return join(hooksDirectory(stateDir), 'agt');
}

/** Holds agt's knowledge of the hooks that it has installed. */
export function hooksDirectory(stateDir: string): string {
  return join(stateDir, 'hooks');
}
