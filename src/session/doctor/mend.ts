/** `agt doctor --fix`: mends what needs no decision, and looks again, since one thing may have hidden another. */
import type { Repository } from '../repository.ts';
import { examine } from './examine.ts';
import type { Finding } from './finding.ts';

export interface Mended {
  readonly finding: Finding;
  /** Why it could not be mended. */
  readonly failure: string | undefined;
}

const ROUNDS = 4;

export async function mendAll(repository: Repository): Promise<Mended[]> {
  const done: Mended[] = [];
  const tried = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const findings = (await examine(repository)).filter(
      (finding) => finding.fix && !tried.has(keyOf(finding)),
    );
    if (findings.length === 0) break;
    for (const finding of findings) {
      tried.add(keyOf(finding));
      done.push({ finding, failure: await attempt(finding) });
    }
  }
  return done;
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
