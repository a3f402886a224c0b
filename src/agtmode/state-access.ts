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
  const found = checkDirectories(env);
  if (found.length > 0 || problem === undefined) return found;
  return [{ level: 'error', about: cwd, problem: problem.message, mend: problem.hints.join('; ') }];
}

function checkDirectories(env: NodeJS.ProcessEnv): Finding[] {
  const [state, ofAgt] = [stateHome(env), stateDirectory(env)];
  if (state === undefined || ofAgt === undefined) {
    const problem = 'neither HOME nor XDG_STATE_HOME is set, so agt keeps no snapshots of folders';
    return [{ level: 'warning', about: 'HOME', problem, mend: 'set HOME' }];
  }
  return checkStateDirectories([
    ofAgt,
    foldersDirectory(state),
    hooksDirectory(ofAgt),
    leasesDirectory(state),
  ]);
}
