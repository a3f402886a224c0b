/** `timestamps/<id>`: Unix seconds of the last autocommit's scan, for scripts and for `agt status`. */
import { join } from 'node:path';
import { writeFileAtomic } from '../state/atomic-file.ts';
import type { CaptureTarget } from './capture.ts';

export function writeTimestamp(target: CaptureTarget, now: Date): void {
  const path = join(target.stateDir, 'timestamps', target.sessionId);
  writeFileAtomic(path, `${Math.floor(now.getTime() / 1000)}\n`);
}
