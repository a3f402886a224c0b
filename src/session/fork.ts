import type { SessionRecord } from './record.ts';
import type { Repository } from './repository.ts';
export async function forkSession(
  _r: Repository,
  s: SessionRecord,
  _o: { id: string | undefined; now: Date },
): Promise<{ record: SessionRecord; warnings: string[] }> {
  return { record: s, warnings: [] };
}
