/**
 * A session's metadata, `<common>/agt/sessions/<id>.json`. agt writes them before it creates the resources
 * that they name, and replaces the file as a whole. So after a crash they name everything that is left.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { jsonNamesIn } from '../disk/folder-entries.ts';
import { AgtError, errorCode } from '../errors.ts';
import { tipRef, workRef } from '../filter/agent-refs.ts';
import { parseSessionFile } from '../filter/session-file.ts';
import { frontFactsFile, recordFile, recordsDirectory, sessionFiles } from '../layout.ts';
import type { ProviderKind } from '../providers/token.ts';
import { rememberRepository } from '../repository/known-repositories.ts';
import type { Repository } from '../repository/repository.ts';
import type { SnapshotRefs } from '../snapshot/history.ts';
import { commandToList } from './advised-commands.ts';
import { idProblem, type SessionId } from './id.ts';
import type { Owner } from './owner.ts';
import { type Intent, SESSION_STATES, type SessionState } from './state.ts';
import { parseUpstreamRecord } from './upstream-record.ts';

export interface SessionRecord {
  readonly session_id: SessionId;
  /** The shadow branch. A full ref name, like the next two. */
  readonly branch: string;
  readonly work_branch: string;
  /** Undefined when the session was started from a detached HEAD. */
  readonly user_branch?: string;
  /** Absolute. */
  readonly sandbox: string;
  /** The session that this one was started from. */
  readonly from?: SessionId;
  /** Ids that snapshots from other repositories name, and the ids that these sessions have here. */
  readonly renamed?: Readonly<Record<string, SessionId>>;
  /** The argument of --from. */
  readonly from_spec?: string;
  /** The commit that the work branch starts at. */
  readonly from_commit: string;
  /** Commits of the user branch that syncs have brought, the newest first. */
  readonly synced?: readonly Synced[];
  readonly created_at: string;
  /** When a command last began or ended something. Snapshots have their own time. */
  readonly last_activity_at: string;
  readonly profile?: string;
  readonly isolation: 'none';
  readonly provider: ProviderKind;
  /** The token of the session folder, if the provider has made it (providers/token.ts). */
  readonly token?: string;
  /** Nothing captures it by itself; commands that a person gives do. */
  readonly captures?: 'by command';
  readonly working_copy: 'worktree' | 'in-place' | 'attached' | 'cow-overlay';
  /** For `cow-overlay`: the user's own path, where the sandbox stands for commands of `agt session run`. */
  readonly stands_at?: string;
  /** The user's own checkout, in which the session works, or an attached folder: the sandbox is a link to it. */
  readonly checkout?: string;
  /** By this agt knows an attached folder again after a move. */
  readonly folder_identity?: string;
  /** The command that `agt session run` has started here. */
  readonly owner?: Owner;
  /** The program of the last event of an agent, or of the last owner: that of an agent if there was one. */
  readonly agent?: string;
  readonly state: SessionState;
  /** When and why the session came into this state, after a command has changed it. */
  readonly state_at?: string;
  readonly state_reason?: string;
  /** It stays with the session through every operation until it is mended, or the session is reverted for it. */
  readonly failure?: Failure;
  /** The last commit that `accept` made of its work. */
  readonly landed?: Landed;
  /** Acceptances that `unaccept` took back, oldest first: `at` is when they landed. */
  readonly taken_back?: readonly (Landed & { readonly taken_at: string })[];
  /** It came from another repository, where the agent worked at this path. `came`: each time that it began here, or came. */
  readonly moved?: {
    readonly from: string;
    readonly at: string;
    readonly came: readonly string[];
    /** When its work landed or was taken back, or it failed or ended, in other repositories. */
    readonly elsewhere?: readonly string[];
    /** The first words of the last one that came along. */
    readonly prompt?: string | undefined;
  };
  /** `away`: another repository goes on with it, or may do so. Undefined holder: nobody has taken it yet. */
  readonly away?: {
    readonly remote: string;
    readonly holder?: { readonly name: string; readonly repository: string; readonly since: string };
    /** Somebody has it whose name no key here opens. */
    readonly sealed?: true;
  };
  /** The last push by `export`. */
  readonly exported?: Exported;
  /** An operation that is not complete: another process carries it out, or agt was killed. */
  readonly intent?: Intent;
}

interface Synced {
  readonly tip: string;
  /** No agent had committed before. */
  readonly isStart: boolean;
  /** Acceptances of the session in another form, as after an amend: the commit of each, and the one below it. */
  readonly accepted?: readonly Pick<Landed, 'commit' | 'from'>[];
}

export interface Failure {
  readonly at: string;
  readonly reason: string;
  /** A turn of the agent has failed, not a capture. */
  readonly of_turn: boolean;
}

export interface Landed {
  readonly commit: string;
  /** The tip of the branch before. */
  readonly from: string;
  /** The branch; a full name. */
  readonly onto: string;
  readonly at: string;
  /** The content of the sandbox then, a commit that `landedRef` keeps; missing if the branch has that commit. */
  readonly source?: string;
  /** Some of the session's work stayed out. */
  readonly in_part?: true;
  /** None of that was committed. */
  readonly with_commits?: true;
  /** Uncommitted files of the user that were as the acceptance would have made them; one byte per character. */
  readonly present?: readonly string[];
  /** Those that were still as the session took them along, and that it has changed. */
  readonly taken?: readonly string[];
  /** The acceptance before, which counts again if `unaccept` takes this one back. */
  readonly before?: Landed;
}

export interface Exported {
  readonly remote: string;
  /** Short name of the branch at the remote. */
  readonly branch: string;
  readonly commit: string;
  readonly at: string;
}

export function sessionFolder(record: SessionRecord): string {
  return join(record.sandbox, '..');
}

/** A folder that agt captures and whose repository, if there is one, it leaves alone. */
export function isAttached({ working_copy }: Pick<SessionRecord, 'working_copy'>): boolean {
  return working_copy === 'attached';
}

/** A note of agt while it removes the session. */
export function removalOf({ intent }: Pick<SessionRecord, 'intent'>) {
  return intent?.operation === 'remove' ? intent : undefined;
}

export function snapshotRefs(record: SessionRecord): SnapshotRefs {
  const { session_id, renamed, branch, from, from_commit } = record;
  const base = from === undefined ? from_commit : undefined;
  const list = commandToList(record);
  const sandbox = isAttached(record) ? undefined : record.sandbox;
  return { session: session_id, renamed, tip: tipRef(session_id), shadow: branch, base, sandbox, list };
}

/** The same session under the id that it has here. */
export function withId(record: SessionRecord, id: SessionId): SessionRecord {
  const { session_id: before, renamed = {} } = record;
  if (before === id) return record;
  const names = Object.entries(renamed).map(([then, now]) => [then, now === before ? id : now]);
  return { ...record, session_id: id, renamed: { ...Object.fromEntries(names), [before]: id, [id]: id } };
}

/** Whether a snapshot or a commit that names this session, under the id that it had then, is its own. */
export function isNamed({ session_id: id, renamed }: SessionRecord, named: string): boolean {
  return (renamed?.[named] ?? named) === id;
}

/** Whether HEAD is where commits of the session have brought it. */
export function hasCommitted(record: SessionRecord, head: string | undefined): boolean {
  const { from_commit, synced = [], taken_back: back = [] } = record;
  const isStart = synced.some((one) => one.isStart && one.tip === head);
  return head !== from_commit && (!isStart || back.some(({ commit }) => commit === head));
}

/** Fields that the metadata always have, for other programs. */
export const EMPTY_FIELDS = { profile: null, from: null, from_spec: null } as const;

export function writeRecord(repository: Repository, record: SessionRecord): void {
  const { session_id, ...fields } = record;
  const text = `${JSON.stringify({ session_id, ...EMPTY_FIELDS, ...fields }, null, 2)}\n`;
  rmSync(frontFactsFile(repository.agtDir, record.session_id), { force: true });
  writeFileAtomic(recordFile(repository.agtDir, record.session_id), text, { durable: true });
  if (!isAttached(record)) rememberRepository(repository);
  failurePoint(`metadata: ${record.state}`);
}

/** Full name, also for a session without metadata, which the settings then decide. */
export function workBranchOf(repository: Repository, id: string): string {
  return readRecord(repository, id as SessionId)?.work_branch ?? workRef(repository.settings, id);
}

/** The metadata go last: after a kill they name what is left. */
export function deleteRecord({ agtDir }: Repository, id: SessionId): void {
  for (const file of sessionFiles(agtDir, id)) rmSync(file, { recursive: true, force: true });
  failurePoint('metadata: caches removed');
  rmSync(recordFile(agtDir, id), { force: true });
}

/** Of a word that a user gives: undefined if it names no session. @throws AgtError if the metadata are damaged. */
export function recordNamed(repository: Repository, word: string): SessionRecord | undefined {
  return idProblem(word) === undefined ? readRecord(repository, word as SessionId) : undefined;
}

/** Undefined if there is no such session. @throws AgtError if its metadata are damaged. */
export function readRecord(repository: Repository, id: SessionId): SessionRecord | undefined {
  const path = recordFile(repository.agtDir, id);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new AgtError(`cannot read ${path}: ${errorCode(error)}`, { cause: error });
  }
  const record = parseRecord(text);
  if (record?.session_id === id) return record;
  if (parseUpstreamRecord(text)?.session_id === id) {
    throw new AgtError(`session "${id}" was made by another agt, which keeps one branch for everything`, {
      hints: [`give it a work branch and a shadow branch: agt session adopt ${id}`],
    });
  }
  throw new AgtError(`metadata of session "${id}" is damaged (${path})`, {
    hints: ['its branches and folder are untouched; see: agt doctor'],
  });
}

function parseRecord(text: string): SessionRecord | undefined {
  const found = parseSessionFile(text) as SessionRecord | undefined;
  if (found === undefined) return undefined;
  const known = Object.entries(found).filter(([name, value]) => value !== null || !(name in EMPTY_FIELDS));
  const record = Object.fromEntries(known) as unknown as SessionRecord;
  const isComplete =
    [record.branch, record.work_branch, record.from_commit].every((value) => typeof value === 'string') &&
    SESSION_STATES.includes(record.state);
  return isComplete ? record : undefined;
}

export function sessionIds({ agtDir }: Repository): string[] {
  return jsonNamesIn(recordsDirectory(agtDir));
}

export interface DamagedRecord {
  readonly session_id: SessionId;
  readonly problem: string;
}

/** All sessions that have metadata, oldest first. Damaged metadata are listed separately. */
export function listRecords(repository: Repository): { records: SessionRecord[]; damaged: DamagedRecord[] } {
  const records: SessionRecord[] = [];
  const damaged: DamagedRecord[] = [];
  for (const id of sessionIds(repository)) {
    if (idProblem(id) !== undefined) continue;
    try {
      const record = readRecord(repository, id as SessionId);
      if (record !== undefined) records.push(record);
    } catch (error) {
      damaged.push({ session_id: id as SessionId, problem: (error as Error).message });
    }
  }
  const age = (record: SessionRecord) => `${record.created_at} ${record.session_id}`;
  records.sort((a, b) => (age(a) < age(b) ? -1 : 1));
  return { records, damaged };
}
