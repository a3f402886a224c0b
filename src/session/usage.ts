/**
 * How many bytes the captures of each session have added, counted where there is a budget: an estimate between two
 * measurements of what all snapshots take (maintenance/retention/budget.ts).
 */

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { gitText } from '../git/run/git.ts';
import { measuredUsageFile, usageDirectory } from '../repository/layout.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from './record.ts';

/** After a capture, under the session's lock: counts what it has added. Where that fails, the next one measures. */
export async function countAdded(
  repository: Repository,
  record: SessionRecord,
  commit: string,
): Promise<void> {
  if (repository.settings.budget === undefined) return;
  try {
    const args = [
      'rev-list',
      '--objects',
      '--exclude-promisor-objects',
      '--disk-usage',
      commit,
      '--not',
      `${commit}^@`,
      '--',
    ];
    const added = Number(await gitText(repository.git, args));
    const before = readAdded(repository)[record.session_id] ?? 0;
    writeFileAtomic(join(usageDirectory(repository.agtDir), record.session_id), `${before + added}\n`);
  } catch {
    rmSync(measuredUsageFile(repository.agtDir), { force: true });
  }
}

export function readAdded(repository: Repository): Record<string, number> {
  const dir = usageDirectory(repository.agtDir);
  try {
    const ids = readdirSync(dir).filter((name) => !name.endsWith('.tmp'));
    return Object.fromEntries(ids.map((id) => [id, Number(readFileSync(join(dir, id), 'utf8')) || 0]));
  } catch {
    return {};
  }
}
