/**
 * Settings of the repository that belong to the user's side of a session in place: which submodules are in use, whether the
 * checkout is sparse, and where it is. All others stay as the agent leaves them.
 */
import { type Git, gitText, runGit } from '../../git/run/git.ts';

/** In the order of the file; a name can be there more than once. */
export type Settings = readonly (readonly [name: string, value: string])[];

const OF_CHECKOUT = /^core\.(sparsecheckout|bare$|worktree$)/;

export async function readSettings(git: Git): Promise<Settings> {
  const args = ['config', '--local', '-z', '--get-regexp', `^submodule\\.|${OF_CHECKOUT.source}`];
  const { exitCode, stdout } = await runGit(git, args);
  if (exitCode !== 0) return [];
  const entries = stdout.toString().split('\0').slice(0, -1);
  return entries.map((entry) => {
    const [name = '', ...value] = entry.split('\n');
    return [name, value.join('\n')];
  });
}

/** A submodule that the agent has added stays in use. */
export async function putSettingsBack(git: Git, before: Settings): Promise<void> {
  const now = await readSettings(git);
  const valuesIn = (settings: Settings, wanted: string) =>
    settings.flatMap(([name, value]) => (name === wanted ? [value] : []));
  for (const name of new Set([...before, ...now].map(([one]) => one))) {
    const [wanted, found] = [valuesIn(before, name), valuesIn(now, name)];
    if (String(wanted) === String(found) || (!OF_CHECKOUT.test(name) && found.length > 0)) continue;
    if (found.length > 0) await gitText(git, ['config', '--local', '--unset-all', name]);
    for (const value of wanted) await gitText(git, ['config', '--local', '--add', name, value]);
  }
}
