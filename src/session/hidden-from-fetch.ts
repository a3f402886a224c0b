/**
 * `uploadpack.hideRefs`: whoever clones or fetches from a repository that agt manages receives no agent's state.
 * Only what is missing is added; the user's own values stay.
 */
import type { Settings } from '../config/settings.ts';
import { type Git, gitAnswer, gitText } from '../git/git.ts';
import type { Repository } from './repository.ts';

const KEY = 'uploadpack.hideRefs';

export function hiddenNamespaces(settings: Settings, remotes: readonly string[]): string[] {
  const prefixes = [settings.branchPrefix, settings.workPrefix].map((prefix) => prefix.replace(/\/$/, ''));
  return [
    'refs/agt',
    `refs/tags/${prefixes[0]}`,
    ...['refs/heads', ...remotes.map((remote) => `refs/remotes/${remote}`)].flatMap((base) =>
      prefixes.map((prefix) => `${base}/${prefix}`),
    ),
  ];
}

/** The namespaces that are to be hidden and are not. */
export async function missingHideRefs(git: Git, settings: Settings): Promise<string[]> {
  const present = (await gitAnswer(git, ['config', '--get-all', KEY]))?.split('\n') ?? [];
  const remotes = (await gitText(git, ['remote'])).split('\n').filter((name) => name !== '');
  return hiddenNamespaces(settings, remotes).filter((name) => !present.includes(name));
}

export async function hideFromFetch(repository: Pick<Repository, 'git' | 'settings'>): Promise<void> {
  for (const name of await missingHideRefs(repository.git, repository.settings)) {
    await gitText(repository.git, ['config', '--add', KEY, name]);
  }
}
