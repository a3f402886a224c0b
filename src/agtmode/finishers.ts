/** How `agt doctor` and `agt status` finish operations of the rooms that maintenance/ cannot import. */
import { finishAccept } from '../landing/end-session.ts';
import { finishSync } from '../landing/sync.ts';
import { finishUnaccept } from '../landing/unaccept.ts';
import type { Finishers } from '../maintenance/doctor/finding.ts';
import { finishRestore } from '../timetravel/restore/restore.ts';

export const finishers: Finishers = {
  restore: finishRestore,
  accept: finishAccept,
  unaccept: finishUnaccept,
  sync: finishSync,
};
