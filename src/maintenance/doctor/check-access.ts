/** Whether agt may write where it keeps its files. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { requireSpace } from '../../disk/free-space.ts';
import { refusedWrite } from '../../disk/make-directories.ts';
import { isAgtError } from '../../errors.ts';
import { locksDirectory, recordsDirectory } from '../../layout.ts';
import { shellQuote } from '../../process/shell-quote.ts';
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

/** Directories outside of repositories, which agt makes when it needs them. */
export function checkStateDirectories(directories: readonly string[]): Finding[] {
  const found = new Map(directories.flatMap(checkDirectory).map((finding) => [finding.about, finding]));
  return [...found.values()].map(({ mend, ...finding }) => ({
    ...finding,
    mend: `${mend}; XDG_STATE_HOME may name another directory`,
  }));
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

function checkDirectory(directory: string): Finding[] {
  const refused = refusedWrite(directory);
  if (refused === undefined) return [];
  const { path, reason } = refused;
  const problem = `agt cannot write there: ${reason}`;
  return [{ level: 'error', about: path, problem, mend: `see: ls -ld ${shellQuote(path)}` }];
}
