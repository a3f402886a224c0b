/**
 * `uploadpack.hideRefs`: keeps agents' branches and snapshots from people who clone or fetch from a repository that agt
 * manages. agt only adds values that are missing; the user's own values stay.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type AllPrefixes, allNamespaces, namespaceOf, OWN_NAMESPACE, SHARED } from '../filter/agent-refs.ts';
import { isLockGone } from '../git/files/ref-locks.ts';
import { type GitConfig, readGitConfig, remotesIn } from '../git/run/config.ts';
import { type Git, gitFailed, runGit } from '../git/run/git.ts';
import type { Repository } from './repository.ts';

const KEY = 'uploadpack.hideRefs';

/** Sessions that were pushed here are for everybody who asks for them. The last value that matches decides. */
const OWN = OWN_NAMESPACE.replace(/\/$/, '');
const SHOWN = `!${SHARED.replace(/\/$/, '')}`;

/** git holds the lock on its configuration for milliseconds: after one to two seconds without it, something is wrong. */
const LOCK_ATTEMPTS = 50;
const LOCK_PAUSE_MS = 20;

/** Namespaces of agt that `uploadpack.hideRefs` does not name yet. */
export async function missingHideRefs(git: Git, prefixes: AllPrefixes): Promise<string[]> {
  return missingIn(await readGitConfig(git), prefixes);
}

function missingIn(config: GitConfig, prefixes: AllPrefixes): string[] {
  const present = config.get(KEY.toLowerCase()) ?? [];
  const hidden = allNamespaces(prefixes, remotesIn(config)).map((namespace) => namespace.replace(/\/$/, ''));
  const missing = hidden.filter((name) => !present.includes(name));
  // Of two that add the same value at once, one may have added it after this.
  const isLast = !missing.includes(OWN) && present.lastIndexOf(SHOWN) > present.lastIndexOf(OWN);
  return isLast ? missing : [...missing, SHOWN];
}

/** git does not wait for the lock on its configuration file, so agt retries. `config`: if the caller has read it. */
export async function hideAgentRefs(
  { git, prefixes }: Pick<Repository, 'git' | 'prefixes'>,
  config?: GitConfig,
): Promise<void> {
  let missing = config === undefined ? await missingHideRefs(git, prefixes) : missingIn(config, prefixes);
  for (let attempt = 1; ; attempt++) {
    const [name] = missing;
    if (name === undefined) return;
    const args = ['config', '--add', KEY, name];
    const run = await runGit(git, args);
    if (run.exitCode === 0) attempt = 0;
    else if (attempt === LOCK_ATTEMPTS) {
      if (!(await isLockGone(git, run.stderr))) throw gitFailed(args, run);
      attempt = 0;
    } else await sleep(LOCK_PAUSE_MS * (1 + Math.random()));
    missing = await missingHideRefs(git, prefixes);
  }
}

/** Takes back what agt has added. */
export async function showAgentRefs({ git, prefixes }: Pick<Repository, 'git' | 'prefixes'>): Promise<void> {
  const values = (await readGitConfig(git)).get(KEY.toLowerCase()) ?? [];
  const own = values.filter((value) => namespaceOf(`${value.replace(/^!/, '')}/`, prefixes) !== undefined);
  const names = own.map((value) => value.replace(/[.+(){}|$]/g, '\\$&'));
  if (own.length > 0) await runGit(git, ['config', '--unset-all', KEY, `^(${names.join('|')})$`]);
}
