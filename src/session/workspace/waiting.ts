/**
 * Moments that agt has frozen and not captured yet: `agt autocommit --later`. Each has a record that names the frozen
 * folder, with what git had for the sandbox then. The next capture of the session captures them first, in order, dated as
 * frozen. A record is flushed: the content of such a moment is in no snapshot.
 */
import { existsSync, linkSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { capture } from '../../autocommit/capture.ts';
import type { CaptureTarget, PastMoment } from '../../autocommit/request.ts';
import { readRefsAtStart } from '../../autocommit/starting-refs.ts';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { readJson } from '../../disk/read-json.ts';
import { errorCode } from '../../errors.ts';
import { momentNumbers } from '../../providers/moment.ts';
import { carriesNonce, parseToken, type Token, tokenText } from '../../providers/token.ts';
import { frozenDirectory, momentFiles, momentsDirectory } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import type { RecordedHead } from '../../snapshot/manifest.ts';
import { type SessionRecord, sessionFolder } from '../record.ts';
import { dropMoments, Freezer, keepMoment } from './moments.ts';
import { dropToken } from './provider.ts';

interface WaitingRecord {
  readonly token: string;
  readonly made: string;
  /** The part that a record of a captured moment does not have. */
  readonly waiting: {
    readonly clock: number;
    readonly head: RecordedHead;
    readonly operation: string | null;
    /** Path and content, in base64. */
    readonly files: readonly (readonly [string, string])[];
    readonly label?: string | undefined;
    readonly tool?: string | undefined;
  };
}

interface Named {
  readonly label?: string;
  readonly tool?: string;
}

/** False if no provider can freeze the folder of the session. The caller holds its lock. */
export async function freezeForLater(
  repository: Repository,
  record: SessionRecord,
  target: CaptureTarget,
  { label, tool }: Named,
): Promise<boolean> {
  const { agtDir, git } = repository;
  const id = record.session_id;
  const freezer = new Freezer(repository, record);
  if (freezer.freeze === undefined) return false;
  const number = Math.max(0, ...momentNumbers(agtDir, id)) + 1;
  const files = momentFiles(agtDir, id, number);
  mkdirSync(momentsDirectory(agtDir, id), { recursive: true });
  const { gitDir, head, gitDirFiles } = await readRefsAtStart(git, target);
  linkIndex(join(gitDir, 'index'), files.index);
  const frozen = await freezer.freeze();
  if (frozen === undefined || freezer.token === undefined) {
    rmSync(files.index, { force: true });
    return false;
  }
  const text: WaitingRecord = {
    token: tokenText(freezer.token),
    made: freezer.made,
    waiting: {
      clock: frozen.clock,
      head,
      operation: gitDirFiles.operation,
      files: [...gitDirFiles.files].map(([path, bytes]) => [path, bytes.toString('base64')]),
      label,
      tool,
    },
  };
  writeFileAtomic(files.record, `${JSON.stringify(text)}\n`, { durable: true });
  failurePoint('later: recorded');
  return true;
}

/** git replaces an index and never writes into it. */
function linkIndex(index: string, link: string): void {
  rmSync(link, { force: true });
  try {
    linkSync(index, link);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

interface Waiting {
  readonly number: number;
  readonly token: Token;
  readonly made: string;
  readonly past: PastMoment;
  readonly named: Named;
}

/** Oldest first. */
export function listWaiting({ agtDir }: Repository, record: SessionRecord): Waiting[] {
  const id = record.session_id;
  const frozen = frozenDirectory(dirname(sessionFolder(record)));
  const waiting = momentNumbers(agtDir, id).flatMap((number): Waiting[] => {
    const files = momentFiles(agtDir, id, number);
    const { token: text, made, waiting: found } = (readJson(files.record) ?? {}) as Partial<WaitingRecord>;
    const token = parseToken(text);
    if (token === undefined || made === undefined || found === undefined) return [];
    const folder = join(frozen, basename(token.path));
    const { clock, head, operation, label, tool } = found;
    const content = new Map(found.files.map(([path, bytes]) => [path, Buffer.from(bytes, 'base64')]));
    const gitDirFiles = { operation, files: content, unreadable: [] };
    return [
      {
        ...{ number, token: { ...token, path: folder }, made },
        past: { folder, clock, head, gitDirFiles, index: files.index },
        named: { ...(label === undefined ? {} : { label }), ...(tool === undefined ? {} : { tool }) },
      },
    ];
  });
  return waiting.sort((a, b) => a.number - b.number);
}

type Options = Omit<Parameters<typeof capture>[2], 'now'>;

export interface WaitedFor {
  /** The snapshots that agt has made. */
  readonly commits: readonly string[];
  readonly warnings: readonly string[];
}

/** Captures what waits, the oldest first. The caller holds the session's lock. */
export async function captureWaiting(
  repository: Repository,
  record: SessionRecord,
  target: CaptureTarget,
  options: Options,
): Promise<WaitedFor> {
  const commits: string[] = [];
  const warnings: string[] = [];
  for (const waiting of listWaiting(repository, record)) {
    const { number, token, made, past, named } = waiting;
    const files = momentFiles(repository.agtDir, record.session_id, number);
    if (!existsSync(token.path) || !carriesNonce(token.path, token)) {
      warnings.push(`the folder that agt froze at ${made} is gone, and was not captured: ${token.path}`);
      for (const file of Object.values(files)) rmSync(file, { force: true });
      continue;
    }
    const now = new Date(made);
    const result = await capture(repository.git, { ...target, past }, { ...options, ...named, now });
    failurePoint('later: captured');
    warnings.push(...result.warnings);
    const commit = result.outcome === 'committed' ? result.commit : undefined;
    if (commit !== undefined) commits.push(commit);
    await settle(repository, record, waiting, result.failed.length === 0 ? commit : undefined);
  }
  return { commits, warnings };
}

/** Keeps the moment with its snapshot; without one agt drops it. */
async function settle(
  repository: Repository,
  record: SessionRecord,
  { number, token, made }: Waiting,
  commit: string | undefined,
): Promise<void> {
  const files = momentFiles(repository.agtDir, record.session_id, number);
  rmSync(files.index, { force: true });
  if (commit === undefined) {
    rmSync(files.record, { force: true });
    await dropToken(repository, token).catch(() => undefined); // agt doctor knows it by its lease
    return;
  }
  keepMoment(repository, record, { number, token, made, commit });
  await dropMoments(repository, record, repository.settings.keep);
}
