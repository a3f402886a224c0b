/** Whether an accept that refuses has a reason. */
import { has, isInProgress, isUnmerged } from '../checkout-facts.ts';
import type { Facts } from '../facts.ts';
import { changedPaths, dirtyPaths, overlap } from '../paths.ts';
import { ok, REAL_GIT } from '../programs.ts';
import type { LandingLife, Session } from './landing-life.ts';
import type { Scene } from './scene.ts';

interface Refusal {
  readonly words: readonly string[];
  readonly expected: string | undefined;
  readonly from: string;
  readonly output: string;
  readonly session: Session;
}

/** The reason is true. */
export function refusedRightly(life: LandingLife, before: Scene, refusal: Refusal): void {
  const { expected, from, output, session, words } = refusal;
  const { counts, root } = life;
  const tree = life.git('rev-parse', `${from}^{tree}`);
  life.note(`  refused: ${output.split('\n')[0]}`);
  if (/conflicts with/.test(output) && expected === undefined) counts.conflicts++;
  else if (/would be overwritten/.test(output) && expected !== undefined) {
    counts.overlaps++;
    if (!overlap(changedPaths(root, tree, expected), ownPaths(before.user)))
      throw new Error(`nothing of the user's is in the way: ${output}`);
  } else {
    counts.refused++;
    const isElsewhere = before.sandbox.get('HEAD') !== `ref: refs/heads/agt/${session.id}`;
    const isThere =
      words[0] === '--commits' &&
      life.user.ask(['merge-base', '--is-ancestor', words[1] as string, from]) !== undefined;
    const isTrue =
      (/nothing to accept/.test(output) && (expected === tree || isThere)) ||
      // What has landed uncommitted is no reason to take it off the branch.
      (/has all work of/.test(output) && words[0] === '--committed-only' && session.landed !== undefined) ||
      (/nothing new is committed/.test(output) && words[0] === '--committed-only' && isAsLanded(session)) ||
      (/git repository inside|nested repository/.test(output) && has(before.sandbox, /^repo /)) ||
      (/in progress/.test(output) && (isInProgress(before.sandbox) || isInProgress(before.user))) ||
      (/conflicts in its index/.test(output) && (isUnmerged(before.sandbox) || isUnmerged(before.user))) ||
      (/which lacks .* of its work branch/.test(output) && isElsewhere) ||
      (/no changed file|only a part of a file/.test(output) && words[0] === '--exclude');
    if (!isTrue) throw new Error(`accept refuses for no reason: ${output}`);
  }
}

/** No commit has come since: that source is HEAD, or a child of it. */
function isAsLanded({ landed, sandbox }: Session): boolean {
  if (landed === undefined) return false;
  const [head, ...landedOn] = ok(
    REAL_GIT,
    ['rev-parse', 'HEAD', landed.source, `${landed.source}^@`],
    sandbox,
  ).split('\n');
  return landedOn.includes(head as string);
}

/** Paths that are not as the last commit has them, ignored ones included. */
export function ownPaths(facts: Facts): string[] {
  return [...dirtyPaths(facts), ...notTracked(facts)];
}

/** Files on disk that are not in the index. */
function notTracked(facts: Facts): string[] {
  const files = [...facts].filter(([key, text]) => key.startsWith('file ') && !text.startsWith('directory'));
  return files.map(([key]) => key.slice('file '.length)).filter((path) => !facts.has(`index 0 ${path}`));
}
