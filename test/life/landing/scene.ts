/** All that an act may change, before it and after it. */
import { readCheckout } from '../checkout-facts.ts';
import { differences } from '../compare.ts';
import type { Facts } from '../facts.ts';
import { type Content, readContent } from '../held.ts';
import { ok, REAL_GIT } from '../programs.ts';
import type { LandingLife, Session } from './landing-life.ts';

/** Before a command. */
export interface Scene {
  readonly user: Facts;
  readonly sandbox: Facts;
  readonly content: Content;
  /** HEAD of the sandbox and the work branch. */
  readonly commits: readonly string[];
}

export function look(life: LandingLife, { id, sandbox }: Session): Scene {
  const facts = readCheckout(sandbox);
  const head = ok(REAL_GIT, ['rev-parse', 'HEAD'], sandbox).trim();
  return {
    user: readCheckout(life.root),
    sandbox: facts,
    content: readContent(sandbox, facts),
    commits: [
      head,
      ...(life.user
        .ask(['rev-parse', '-q', '--verify', `refs/heads/agt/${id}`])
        ?.trim()
        .split('\n') ?? []),
    ],
  };
}

export function report(faults: readonly string[], why: string): void {
  if (faults.length > 0) throw new Error(`${why}:\n${faults.join('\n')}`);
}

/** @throws Error if a command changed something that it may not change. */
export function nothingChanged(life: LandingLife, { sandbox }: Session, before: Scene, why: string): void {
  report(differences(before.user, readCheckout(life.root)), `${why} changed what the user has`);
  report(differences(before.sandbox, readCheckout(sandbox)), `${why} changed the sandbox`);
}
