/** Worktrees that an agent makes for itself or its subagents become sessions. */
import { existsSync } from 'node:fs';
import { processIsGone } from '../disk/lock-owner.ts';
import { realPath } from '../disk/real-path.ts';
import { isActive } from '../filter/session-file.ts';
import { openHash } from '../git/objects/hash.ts';
import { resolveObject } from '../git/run/git.ts';
import { newSession } from '../lifecycle/new.ts';
import { removeSession } from '../lifecycle/remove.ts';
import { unsavedWork } from '../lifecycle/unsaved-work.ts';
import type { Repository } from '../repository/repository.ts';
import { endOwnership, takeOwnership } from '../running/marks.ts';
import { checkId, type SessionId } from '../session/id.ts';
import { ownerOf } from '../session/owner.ts';
import { listRecords, readRecord } from '../session/record.ts';
import { Session } from '../session/session.ts';

export interface WorktreeRequest {
  readonly name: string;
  readonly cwd: string;
  readonly now: Date;
  /** The session is for this kind of agent. */
  readonly profile: string;
  /** Begins the ids of such sessions. */
  readonly prefix: string;
  readonly pid: number | undefined;
  readonly agent: string;
}

/** An agent that comes back with the same name gets the same sandbox. */
export async function createWorktree(repository: Repository, request: WorktreeRequest) {
  const { cwd, now, profile, pid } = request;
  const { id, present } = findFreeId(repository, idOf(request), profile);
  if (present !== undefined) return { record: present, isNew: false };
  const options = { id, from: undefined, profile, cwd, now, showProgress: false };
  const { record } = await newSession(repository, options);
  if (pid !== undefined)
    await takeOwnership(new Session(repository, record), ownerOf(pid, request.agent, now));
  return { record, isNew: true };
}

/** Room for a digest and a number at the end. */
const LONGEST_ID = 48;

/** Another name gives another id: two agents must not work in one sandbox. */
function idOf({ prefix, name }: WorktreeRequest): SessionId {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/\.{2,}/g, '.');
  const id = `${prefix}${plain}`.slice(0, LONGEST_ID).replace(/(\.lock)?[.-]*$/i, '');
  const isWhole = id === `${prefix}${name}`;
  return checkId(isWhole ? id : `${id}-${openHash('sha1').update(name).digest().slice(0, DIGEST_LENGTH)}`);
}

const DIGEST_LENGTH = 6;

/** A session that has ended keeps its name, and so does one that a person has made. */
function findFreeId(repository: Repository, wanted: SessionId, profile: string) {
  for (let n = 1; ; n++) {
    const id = (n === 1 ? wanted : `${wanted}-${n}`) as SessionId;
    const record = readRecord(repository, id);
    if (record === undefined) return { id, present: undefined };
    const isOurs = record.profile === profile && isActive(record);
    if (isOurs && existsSync(record.sandbox)) return { id, present: record };
  }
}

/** `path` may be gone already: that is what the agent wants. `pid`: the agent that calls is no reason to keep it. */
export async function removeWorktree(
  repository: Repository,
  path: string,
  pid: number | undefined,
  now: Date,
): Promise<void> {
  const real = realPath(path);
  const record = listRecords(repository).records.find(
    (session) => isActive(session) && realPath(session.sandbox) === real,
  );
  if (record === undefined) {
    if (existsSync(path)) throw new Error(`${path} is no sandbox of agt; agt leaves it alone`);
    return;
  }
  const session = new Session(repository, record);
  await endOwnership(session, pid);
  await removeSession(session, { force: false, now });
}

/**
 * No agent removes the worktrees of its subagents. agt removes those without a change once the agent has ended; `ending`
 * is about to. Their snapshots stay.
 */
export async function sweepWorktrees(
  repository: Repository,
  prefix: string,
  ending: number | undefined,
  now: Date,
): Promise<void> {
  for (const record of listRecords(repository).records) {
    const { owner, session_id: id } = record;
    const isLeft = owner !== undefined && (owner.pid === ending || processIsGone(owner));
    if (!id.startsWith(prefix) || !isLeft || !isActive(record) || record.intent !== undefined) continue;
    const session = new Session(repository, record);
    if (!(await isUnchanged(session))) continue;
    await endOwnership(session, owner.pid);
    await removeSession(session, { force: false, now });
  }
}

async function isUnchanged(session: Session): Promise<boolean> {
  const { git, record } = session;
  const work = await resolveObject(git, record.work_branch);
  return work === record.from_commit && (await unsavedWork(session)).length === 0;
}
