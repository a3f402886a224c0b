/** Counts the autocommits of many sessions, in a fork also those before the fork. One git reads all of them. */
import { askGitSync } from '../git/run/run-sync.ts';
import type { Repository } from '../repository/repository.ts';

interface Chain {
  readonly session: string;
  readonly tip: string;
  /** Commits at which the chain ends. */
  readonly ends: readonly string[];
}

/** By session id. Only commits by agt's author count. */
export function countSnapshots({ git, settings }: Repository, chains: readonly Chain[]): Map<string, number> {
  const tips = chains.flatMap(({ tip, ends }) => [tip, ...ends.map((oid) => `^${oid}`)]);
  const options = ['--no-show-signature', '--no-mailmap', '--format=%H %ae %P'];
  const input = [...new Set(tips)].map((line) => `${line}\n`).join('');
  const output =
    askGitSync(git, ['log', '--first-parent', ...options, '--stdin'], { input })?.toString() ?? '';
  const parents = new Map<string, string | undefined>();
  for (const line of output.split('\n')) {
    const [commit = '', author, parent] = line.split(' ');
    if (author === settings.agentEmail) parents.set(commit, parent);
  }
  return new Map(
    chains.map(({ session, tip }) => {
      let count = 0;
      for (let at: string | undefined = tip; at !== undefined && parents.has(at); at = parents.get(at))
        count++;
      return [session, count];
    }),
  );
}
