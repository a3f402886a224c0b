/** Which commits of a session some changed files come from. */
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import { type Git, gitText } from '../git/run/git.ts';

export interface NamedCommit {
  readonly commit: string;
  readonly subject: string;
}

/** The commits of `head` that change one of these files, oldest first: none that `tip` has, not even as a copy. */
export async function commitsTouching(
  git: Git,
  { tip, head }: { readonly tip: string; readonly head: string },
  changes: readonly DiffEntry[],
): Promise<NamedCommit[]> {
  const paths = changes.map(({ path }) => path).filter((path) => !path.includes('\n'));
  if (paths.length === 0) return [];
  const order = ['--reverse', '--topo-order', '--no-merges', '--no-show-signature'];
  const args = ['--literal-pathspecs', 'log', ...order, '--right-only', '--cherry-pick', '--format=%H %s'];
  const input = Buffer.from([`${tip}...${head}`, '--', ...paths, ''].join('\n'), 'latin1');
  const lines = (await gitText(git, [...args, '--stdin'], { input })).split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => ({
      commit: line.slice(0, line.indexOf(' ')),
      subject: line.slice(line.indexOf(' ') + 1),
    }));
}
