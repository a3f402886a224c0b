/** `agt doctor --fix`: mends what needs no decision, and looks again, since one thing may have hidden another. */
import type { Repository } from '../../repository/repository.ts';
import { checkRepository } from './check-repository.ts';
import type { Finding, FinishRestore } from './finding.ts';

export interface FixResult {
  readonly finding: Finding;
  /** Why it could not be mended. */
  readonly failure: string | undefined;
}

const ROUNDS = 4;

export async function fixAll(repository: Repository, finishRestore: FinishRestore): Promise<FixResult[]> {
  const done = new Map<string, FixResult>();
  for (let round = 0, goesOn = true; round < ROUNDS && goesOn; round++) {
    goesOn = false;
    const findings = (await checkRepository(repository, finishRestore)).filter((finding) => {
      const before = done.get(keyOf(finding));
      return finding.fix && (before === undefined || before.failure !== undefined);
    });
    for (const finding of notesFirst(findings)) {
      const failure = await attempt(finding);
      done.set(keyOf(finding), { finding, failure });
      goesOn ||= failure === undefined;
    }
  }
  return [...done.values()];
}

/** What a killed process left, such as git's lock on a ref, may be in the way of what else is to be done. */
function notesFirst(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) => Number(b.level === 'note') - Number(a.level === 'note'));
}

function keyOf({ about, problem }: Finding): string {
  return `${about}\0${problem}`;
}

async function attempt({ fix }: Finding): Promise<string | undefined> {
  try {
    await fix?.();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
