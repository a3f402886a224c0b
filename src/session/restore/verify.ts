/** Whether a restore gave back what it should: the folder as it was captured afterwards, against the state. */
import { displayPath } from '../../autocommit/display.ts';
import { digestOf } from '../../autocommit/index-state.ts';
import { isUnder } from '../../autocommit/tops.ts';
import { type Git, runGit } from '../../git/git.ts';
import { parseIndex } from '../../git/index-file.ts';
import { prepareCheckout } from '../checkout/checkout.ts';
import type { State } from '../checkout/state.ts';

/** What is not as it was, readable; `kept` is what the restore had to leave. */
export async function listMismatches(
  git: Git,
  now: State,
  wanted: State,
  scope: readonly string[],
): Promise<string[]> {
  const plan = await prepareCheckout(git, now, wanted, scope);
  const paths = new Set([
    ...plan.kept,
    ...plan.deletions,
    ...plan.writes.map(({ path }) => path),
    ...plan.modes.keys(),
    ...missingDirectories(now, wanted, scope),
  ]);
  const mismatches = [...paths].sort().map(displayPath);
  if (!scope.includes('sandbox')) return mismatches;
  if (now.manifest.operation_digest !== wanted.manifest.operation_digest)
    mismatches.push(`the ${wanted.manifest.operation ?? now.manifest.operation} in the sandbox`);
  if ((await indexDigest(git, now)) !== (await indexDigest(git, wanted)))
    mismatches.push('the index of the sandbox');
  return mismatches;
}

function missingDirectories(now: State, wanted: State, scope: readonly string[]): string[] {
  const before = new Set(now.emptyDirectories);
  return wanted.emptyDirectories.filter((path) => isUnder(path, scope) && !before.has(path));
}

async function indexDigest(git: Git, { commit }: State): Promise<string> {
  const index = await runGit(git, ['cat-file', 'blob', `${commit}:_/index`]);
  return index.exitCode === 0 ? digestOf(parseIndex(index.stdout, commit.length / 2)) : '';
}
