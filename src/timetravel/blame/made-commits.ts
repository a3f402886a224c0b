/** Commits that agt makes for git blame alone: with other parents, or with other files. */
import { findObjects } from '../../git/objects/object-reader.ts';
import type { Git } from '../../git/run/git.ts';

/** The whole object. */
export function commitWith(tree: string, parents: readonly string[], seconds = 0, message = ''): Buffer {
  const identity = `agt <agt> ${seconds} +0000`;
  const lines = [`tree ${tree}`, ...parents.map((one) => `parent ${one}`), `author ${identity}`];
  return Buffer.from(`${lines.join('\n')}\ncommitter ${identity}\n\n${message}\n`);
}

export async function treesOf(git: Git, commits: readonly string[]): Promise<Map<string, string>> {
  const found = await findObjects(
    git,
    commits.map((commit) => `${commit}^{tree}`),
  );
  return new Map(commits.map((commit, i) => [commit, found[i]?.oid ?? '']));
}
