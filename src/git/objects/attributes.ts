/** git reads attributes, such as `merge=union`, from files of the work tree. */
import { LINK } from '../modes.ts';
import { type Git, gitBytes, gitText } from '../run/git.ts';
import { listTree } from './ls-tree.ts';

/** Writes those of a commit into the work tree of `git`, so that a merge reads them as in a clean checkout. */
export async function layOutAttributes(git: Git, commit: string): Promise<void> {
  const listed = await listTree(git, commit, 'files');
  const files = listed.filter(({ path, mode }) => /(^|\/)\.gitattributes$/.test(path) && mode !== LINK);
  if (files.length === 0) return;
  await gitText(git, ['read-tree', commit]);
  const input = Buffer.from(files.map(({ path }) => `${path}\0`).join(''), 'latin1');
  await gitBytes(git, ['checkout-index', '--force', '-z', '--stdin'], { input });
}
