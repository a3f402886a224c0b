import { REMOTES, readValuesBelow } from '../files/ref-files.ts';
import { type Git, gitLines } from '../run/git.ts';
import { findObjects } from './object-reader.ts';

/**
 * Commits here that branches of the remote have. If nobody has fetched from it, `ask` runs git with these words, which ask
 * the remote itself, and returns the lines.
 */
export async function branchTips(
  { git, commonDir }: { readonly git: Git; readonly commonDir: string },
  remote: string,
  ask: (words: readonly string[]) => Promise<readonly string[]>,
): Promise<string[]> {
  const below = `${REMOTES}${remote}/`;
  const known =
    readValuesBelow(commonDir, below, git.env) ??
    (await gitLines(git, ['for-each-ref', '--format=%(objectname)', '--', below]));
  if (known.length > 0) return known;
  const there = await ask(['ls-remote', '--heads', '--', remote]);
  const tips = [...new Set(there.map((line) => line.split('\t')[0] as string))];
  const found = await findObjects(git, tips);
  return tips.filter((_, i) => found[i]?.type === 'commit');
}
