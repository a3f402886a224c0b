/** A session as agt has read it: every question about its folder, its sandbox and its history begins here. */
import { join } from 'node:path';
import { AgtError } from '../errors.ts';
import { type Git, inDirectory, resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { readHistory, requireHistory, type Snapshot, type SnapshotRefs } from '../snapshot/history.ts';
import { resolveSnapshot } from '../snapshot/resolve-snapshot.ts';
import type { SessionId } from './id.ts';
import { type SessionRecord, snapshotRefs } from './record.ts';
import { type SandboxPlace, sandboxPlace } from './sandbox-place.ts';

export class Session {
  /** Has its snapshots: the repository of the user, or the store of an attached folder. */
  readonly repository: Repository;
  readonly id: SessionId;
  /** Undefined for one of which only the id is known (lock.ts). */
  protected readonly given: SessionRecord | undefined;
  private seen: SandboxPlace | undefined;
  /** The newest snapshot, if no ref leads to it. */
  private tip: string | undefined;

  constructor(repository: Repository, record: SessionRecord);
  constructor(repository: Repository, record: SessionRecord | undefined, id: SessionId);
  constructor(repository: Repository, record: SessionRecord | undefined, id = record?.session_id) {
    this.repository = repository;
    this.id = id as SessionId;
    this.given = record;
  }

  get record(): SessionRecord {
    return this.given as SessionRecord;
  }

  /** Runs in the repository. */
  get git(): Git {
    return this.repository.git;
  }

  get sandboxGit(): Git {
    return inDirectory(this.repository.git, this.record.sandbox);
  }

  /** Absolute. */
  get folder(): string {
    return join(this.record.sandbox, '..');
  }

  /** As it was at the last look. */
  get place(): SandboxPlace {
    return this.seen ?? this.look();
  }

  /** Somebody may have moved or changed it since. */
  look(): SandboxPlace {
    this.seen = sandboxPlace(this.repository, this.record);
    return this.seen;
  }

  get refs(): SnapshotRefs {
    const refs = snapshotRefs(this.record);
    return this.tip === undefined ? refs : { ...refs, tip: this.tip };
  }

  /** Newest first. */
  history(): Promise<Snapshot[]> {
    return readHistory(this.git, this.refs);
  }

  /** @throws AgtError if it is lost */
  requireHistory(): Promise<readonly Snapshot[]> {
    return requireHistory(this.git, this.refs);
  }

  /** The one that a user names. `known`: the history, if the caller has read it. @throws AgtError if there is none */
  find(spec: string, now: Date, known?: readonly Snapshot[]): Promise<Snapshot> {
    return resolveSnapshot(this.git, this.refs, spec, now, known);
  }

  /** The same session with other metadata. */
  with(record: SessionRecord): Session {
    return new Session(this.repository, record);
  }

  /** The same session up to a snapshot that `git` has, as far as there is one. New objects are its own. */
  upTo(tip: string | undefined, git: Git): Session {
    const session = new Session({ ...this.repository, git }, this.record);
    session.tip = tip;
    return session;
  }

  get isUpToScratch(): boolean {
    return this.tip !== undefined;
  }
}

/** If somebody has rewritten the history and deleted the recorded one, it is the commit below the oldest snapshot. */
export async function startCommit(session: Session): Promise<string> {
  const { git, record } = session;
  const recorded = await resolveObject(git, `${record.from_commit}^{commit}`);
  if (recorded !== undefined) return recorded;
  const oldest = (await session.history()).at(-1);
  if (oldest?.parents[0] !== undefined) return oldest.parents[0];
  for (const ref of [record.work_branch, record.user_branch ?? record.work_branch]) {
    const commit = await resolveObject(git, `${ref}^{commit}`);
    if (commit !== undefined) return commit;
  }
  throw new AgtError(`session "${record.session_id}" started at ${record.from_commit}, which is gone`);
}
