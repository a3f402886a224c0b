/** `agt session reject`: the session ends, and nothing of its work goes anywhere. Its snapshots stay until `agt gc`. */

import type { RemovalOptions } from '../lifecycle/delete-folder.ts';
import { planRemoval, type RemovalPlan, removeSession, requireRemovable } from '../lifecycle/remove.ts';
import type { Session } from '../session/session.ts';

interface RejectResult {
  readonly plan: RemovalPlan;
  /** Paths that `.agtignore` names: no snapshot has them. */
  readonly ignored: readonly string[];
}

export async function rejectSession(
  session: Session,
  { dryRun, ...options }: Omit<RemovalOptions, 'outcome'> & { readonly dryRun: boolean },
): Promise<RejectResult> {
  const plan = await planRemoval(session, false);
  if (dryRun) {
    await requireRemovable(session, { ...options, outcome: 'rejected' });
    return { plan, ignored: [] };
  }
  const { ignored } = await removeSession(session.repository, plan, { ...options, outcome: 'rejected' });
  return { plan, ignored };
}
