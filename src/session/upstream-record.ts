/**
 * Metadata that the agt of simbo1905 (0.2) wrote. There the sandbox's HEAD is the shadow branch itself, and snapshots and
 * commits of the agent follow each other on it. agt leaves such a session alone until `agt session adopt`.
 */
import { readFileSync } from 'node:fs';
import { jsonNamesIn } from '../disk/folder-entries.ts';
import { attempt } from '../errors.ts';
import { HEADS } from '../git/files/ref-files.ts';
import { recordFile, recordsDirectory } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import { idProblem, type SessionId } from './id.ts';

export interface UpstreamRecord {
  readonly session_id: SessionId;
  /** A full name, like the next one. */
  readonly branch: string;
  readonly user_branch: string | undefined;
  readonly sandbox: string;
  readonly from_commit: string;
  readonly created_at: Date;
  readonly profile: string | undefined;
}

/** Undefined for everything else. */
export function parseUpstreamRecord(text: string): UpstreamRecord | undefined {
  const found: Record<string, unknown> = attempt(() => JSON.parse(text));
  if (found === undefined) return undefined;
  const { session_id: id, branch, sandbox, from_commit: start, created_at: created, state } = found ?? {};
  const texts = [id, branch, sandbox, start];
  if (state !== undefined || typeof created !== 'number' || texts.some((value) => typeof value !== 'string'))
    return undefined;
  const { user_branch: user, profile } = found;
  return {
    session_id: id as SessionId,
    branch: String(branch).startsWith('refs/') ? String(branch) : `${HEADS}${branch}`,
    user_branch: typeof user === 'string' && user.startsWith(HEADS) ? user : undefined,
    sandbox: String(sandbox),
    from_commit: String(start),
    created_at: new Date(created * 1000),
    profile: typeof profile === 'string' ? profile : undefined,
  };
}

/** All sessions of that agt here. */
export function listUpstreamRecords({ agtDir }: Repository): UpstreamRecord[] {
  const ids = attempt(() => jsonNamesIn(recordsDirectory(agtDir))) ?? [];
  return ids.flatMap((id) => {
    if (idProblem(id) !== undefined) return [];
    const record = parseUpstreamRecord(readFileSync(recordFile(agtDir, id), 'utf8'));
    return record?.session_id === id ? [record] : [];
  });
}
