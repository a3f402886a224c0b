/** Whether agt may write where it keeps its files: another user can own them, and a file system can be read-only. */
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { requireSpace } from '../../disk/free-space.ts';
import { isAgtError, systemReason } from '../../errors.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { locksDirectory, recordsDirectory } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Finding } from './finding.ts';

export function checkAccess({ commonDir, agtDir }: Repository, sessionsDir: string): Finding[] {
  const written = [
    commonDir,
    join(commonDir, 'objects'),
    join(commonDir, 'refs'),
    agtDir,
    recordsDirectory(agtDir),
    locksDirectory(agtDir),
    join(agtDir, 'scan'),
    join(agtDir, 'timestamps'),
    sessionsDir,
  ];
  return [...written.filter((path) => existsSync(path)).flatMap(checkDirectory), ...checkSpace(commonDir)];
}

/** agt captures nothing on a disk that is nearly full. */
function checkSpace(path: string): Finding[] {
  try {
    requireSpace(path, 0);
    return [];
  } catch (error) {
    if (!isAgtError(error)) throw error;
    return [{ level: 'error', about: path, problem: error.message, mend: 'free some disk space' }];
  }
}

function checkDirectory(path: string): Finding[] {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return [];
  } catch (error) {
    const problem = `agt cannot write there: ${systemReason(error)}`;
    return [{ level: 'error', about: path, problem, mend: `see: ls -ld ${shellQuote(path)}` }];
  }
}
