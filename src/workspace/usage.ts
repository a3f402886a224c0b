/**
 * Counts the bytes that the snapshots of each session add, if there is a budget. Between two measurements
 * (maintenance/retention/budget.ts) these counts are agt's estimate of disk use.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { gitText } from '../git/run/git.ts';
import { measuredUsageFile, usageDirectory } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import type { LockedSession } from '../session/lock.ts';

/** Counts what a snapshot added. If that fails, it makes the next autocommit measure again. */
export async function recordAddedBytes({ repository, id }: LockedSession, commit: string): Promise<void> {
  if (repository.settings.budget === undefined) return;
  try {
    const options = ['--objects', '--exclude-promisor-objects', '--disk-usage'];
    const args = ['rev-list', ...options, commit, '--not', `${commit}^@`, '--'];
    const added = Number(await gitText(repository.git, args));
    const before = readAddedBytes(repository)[id] ?? 0;
    writeFileAtomic(join(usageDirectory(repository.agtDir), id), `${before + added}\n`);
  } catch {
    rmSync(measuredUsageFile(repository.agtDir), { force: true });
  }
}

/** By session id. */
export function readAddedBytes(repository: Repository): Record<string, number> {
  const dir = usageDirectory(repository.agtDir);
  try {
    const ids = readdirSync(dir).filter((name) => !name.endsWith('.tmp'));
    return Object.fromEntries(ids.map((id) => [id, Number(readFileSync(join(dir, id), 'utf8')) || 0]));
  } catch {
    return {};
  }
}
