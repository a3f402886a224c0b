/** Reads what files alone say about a session: its sandbox, HEAD, the operation in progress and the owner. */
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { processIsGone } from '../disk/lock-owner.ts';
import { readIfThere } from '../disk/read-file.ts';
import { attempt } from '../errors.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { type HeadFile, isReadableHead, readHeadFile } from '../git/files/head-file.ts';
import { statusOfEach } from '../git/objects/status.ts';
import type { Git } from '../git/run/git.ts';
import { type AgentState, readAgentState } from '../session/agent-state.ts';
import { startsOfWork } from '../session/landings.ts';
import type { SessionRecord } from '../session/record.ts';
import { registrationFor, renamedFolder } from '../session/relocate.ts';
import { isOutOfSight } from '../session/sandbox-place.ts';
import type { Session } from '../session/session.ts';
import { lastPush } from '../session/share-file.ts';
import { isEnded } from '../session/state.ts';
import { readOperation } from '../snapshot/git-dir-files.ts';

export interface SandboxFacts {
  readonly record: SessionRecord;
  /** Undefined unless the sandbox is a worktree of this repository. */
  readonly gitDir: string | undefined;
  /** A command of another session runs at the user's own path: from there the links of this sandbox lead nowhere. */
  readonly isOutOfSight: boolean;
  /** It or the repository is not where the metadata say, and `agt doctor --fix` connects them again. */
  readonly hasMoved: boolean;
  readonly head: HeadFile | undefined;
  /** A merge or rebase in progress. */
  readonly operation: string | undefined;
  /** Undefined if no hook has told agt, or the agent has ended in the middle. */
  readonly agentState: AgentState | undefined;
  /** Also of an agent or a session that has ended. */
  readonly lastPrompt: string | null | undefined;
  readonly merging: string | undefined;
  /** Whether the owner of the session runs; undefined without an owner. */
  readonly running: boolean | undefined;
  readonly pushed: ReturnType<typeof lastPush>;
  /** Where its work may begin. */
  readonly starts: readonly string[];
}

/** `sessionsDir`: where the folders of sessions are now. */
export function readSandboxFacts(session: Session, sessionsDir: string): SandboxFacts {
  const { repository, record } = session;
  const place = session.place;
  const gitDir = place === 'here' ? gitDirOf(record.sandbox) : undefined;
  const outOfSight = isOutOfSight(repository, place);
  const isBeside =
    place === 'missing' &&
    (existsSync(join(sessionsDir, record.session_id, 'sandbox')) ||
      renamedFolder(session, sessionsDir) !== undefined);
  const isCut =
    place === 'broken link' && !outOfSight && registrationFor(session, record.sandbox) !== undefined;
  const running = record.owner === undefined ? undefined : !processIsGone(record.owner);
  const told = readAgentState(repository.agtDir, record.session_id);
  // Somebody has said so (agt session fail, agt run), and no hook since.
  const isNews = told?.state !== 'failed' || told.since < (record.state_at ?? '');
  const hasFailed = record.state === 'failed' && isNews;
  const state =
    hasFailed && record.state_at !== undefined
      ? {
          ...{ state: 'failed' as const, since: record.state_at, agent: null, prompt: told?.prompt ?? null },
          for: record.state_reason ?? null,
        }
      : told;
  const isLeft = running === false && ['works', 'waits'].includes(state?.state ?? '');
  const isOver = ['done', 'failed'].includes(state?.state ?? '');
  // An agent without hooks has come since.
  const isOfOther = isOver && Boolean(state?.agent && record.agent) && state?.agent !== record.agent;
  const isElsewhere = record.away !== undefined;
  return {
    record,
    gitDir,
    agentState: isEnded(record) || isLeft || isOfOther || isElsewhere ? undefined : state,
    lastPrompt: told?.prompt ?? record.moved?.prompt,
    isOutOfSight: outOfSight,
    hasMoved: isBeside || isCut,
    head: gitDir === undefined ? undefined : readHeadFile(gitDir),
    operation: (gitDir === undefined ? undefined : readOperation(gitDir)) ?? undefined,
    merging: gitDir === undefined ? undefined : mergingIn(gitDir),
    running,
    pushed: attempt(() => lastPush(session)),
    starts: startsOfWork(repository, record),
  };
}

/** The commit that a merge in progress joins. An agent may have written anything there, also the name of no commit. */
export function mergingIn(gitDir: string): string | undefined {
  return /^[0-9a-f]{40}([0-9a-f]{24})?(?=\n)/.exec(readIfThere(join(gitDir, 'MERGE_HEAD')))?.[0];
}

const OPTIONS = ['--untracked-files=all', '--ignore-submodules=dirty', '--renames'];

/** By sandbox. None where there is no sandbox, and where git cannot tell. */
export async function readWorkingFiles(git: Git, facts: readonly Pick<SandboxFacts, 'record' | 'gitDir'>[]) {
  const present = facts.filter(({ gitDir }) => gitDir !== undefined && isReadable(gitDir));
  const sandboxes = present.map(({ record }) => record.sandbox);
  const found = await statusOfEach(git, sandboxes, OPTIONS);
  return new Map([...found].map(([sandbox, { entries }]) => [sandbox, entries]));
}

/** git would wait for a named pipe. */
function isReadable(gitDir: string): boolean {
  const index = lstatSync(join(gitDir, 'index'), { throwIfNoEntry: false });
  return index?.isFile() !== false && isReadableHead(gitDir);
}
