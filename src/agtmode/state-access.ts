/** Whether agt may write outside of repositories: the stores of folders, hooks and leases. */
import { stateHome } from '../disk/state-home.ts';
import type { AgtError } from '../errors.ts';
import { hooksDirectory, stateDirectory } from '../integrations/state-directory.ts';
import { foldersDirectory, leasesDirectory } from '../layout.ts';
import { checkStateDirectories } from '../maintenance/doctor/check-access.ts';
import type { Finding } from '../maintenance/doctor/finding.ts';
import type { Context } from './context.ts';

/** `problem`: why agt cannot use the store of a folder. */
export function checkState({ env, cwd }: Context, problem: AgtError | undefined): Finding[] {
  const [state, ofAgt] = [stateHome(env), stateDirectory(env)];
  if (state === undefined || ofAgt === undefined) {
    const missing = 'neither HOME nor XDG_STATE_HOME is set, so agt keeps no snapshots of folders';
    return [{ level: 'warning', about: 'HOME', problem: missing, mend: 'set HOME' }];
  }
  const found = checkStateDirectories([
    ofAgt,
    foldersDirectory(state),
    hooksDirectory(ofAgt),
    leasesDirectory(state),
  ]);
  if (found.length > 0 || problem === undefined) return found;
  return [{ level: 'error', about: cwd, problem: problem.message, mend: problem.hints.join('; ') }];
}
