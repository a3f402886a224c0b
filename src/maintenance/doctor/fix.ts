/** `agt doctor --fix`: fixes what needs no decision. Problems hide each other, so it checks again. */
import type { Repository } from '../../repository/repository.ts';
import { checkRepository } from './check-repository.ts';
import type { Finding, Finishers } from './finding.ts';

export interface FixResult {
  readonly finding: Finding;
  /** Why the fix failed; undefined if it did not. */
  readonly failure: string | undefined;
  /** Where work is now. */
  readonly note: string | undefined;
}

/**
 * A half-registered worktree hides everything else, a lock file can make a fix fail, an unfinished operation
 * hides the rest of its session: one round each, and one more.
 */
const MOST_ROUNDS = 4;

export async function fixAll(repository: Repository, finishers: Finishers): Promise<FixResult[]> {
  const results = new Map<string, FixResult>();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const findings = (await checkRepository(repository, finishers)).filter((finding) => {
      const earlier = results.get(keyOf(finding));
      return finding.fix && (earlier === undefined || earlier.failure !== undefined);
    });
    let hasFixed = false;
    for (const finding of notesFirst(findings)) {
      const result = await attempt(finding);
      results.set(keyOf(finding), result);
      hasFixed ||= result.failure === undefined;
    }
    if (!hasFixed) break;
  }
  return [...results.values()];
}

/** A note can be a leftover, such as git's lock on a ref, that blocks the fix of an error. */
function notesFirst(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) => Number(b.level === 'note') - Number(a.level === 'note'));
}

function keyOf({ about, problem }: Finding): string {
  return `${about}\0${problem}`;
}

export async function attempt(finding: Finding): Promise<FixResult> {
  try {
    const said = await finding.fix?.();
    return { finding, failure: undefined, note: typeof said === 'string' ? said : undefined };
  } catch (error) {
    return { finding, failure: (error as Error).message, note: undefined };
  }
}
