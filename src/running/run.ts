/** `agt session run`: a command in the sandbox of a session, with autocommits while it runs and when it has ended. */
import { constants } from 'node:os';
import { identify, processIsGone } from '../disk/lock-owner.ts';
import { attempt, isAgtError } from '../errors.ts';
import { isCapturedByItself } from '../filter/session-file.ts';
import type { Repository } from '../repository/repository.ts';
import { endAgentStates } from '../session/agent-state.ts';
import { ownerOf } from '../session/owner.ts';
import { readRecord, type SessionRecord } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { copyTranscriptInto } from '../session/transcript-copy.ts';
import { BEFORE_RUN } from '../snapshot/format.ts';
import { autocommit } from '../triggers/autocommit.ts';
import { type CommandEnd, type CommandLine, passSignals, startCommand } from './command.ts';
import { endOwnership, markFailed, takeOwnership } from './marks.ts';

export interface RunRequest extends CommandLine {
  /** Milliseconds between two autocommits; undefined: only at the end. */
  readonly everyMs: number | undefined;
  /** The name of the command, if the first word is that of a program which becomes it. */
  readonly program?: string | undefined;
  readonly now: () => Date;
  /** Whether a program of this name is an agent. */
  readonly isAgent: (program: string) => boolean;
  readonly onStarted?: () => void;
  /** Is told of problems with autocommits before the command begins, or when it has ended: meanwhile the terminal is its own. */
  readonly onProblem: (record: SessionRecord, error: unknown) => void;
  /** Is told that the command was killed, as by the system for want of memory. */
  readonly onKilled: (record: SessionRecord, reason: string) => Promise<void>;
}

export interface SessionToRun {
  readonly record: SessionRecord;
  readonly request: RunRequest;
}

/** Runs all of them at once. @throws AgtError if a command could not be started. */
export async function runInSessions(
  repository: Repository,
  sessions: readonly SessionToRun[],
): Promise<CommandEnd[]> {
  const runs: ReturnType<typeof startRun>[] = [];
  const release = passSignals(
    () => runs.map(({ command }) => command),
    () => {
      for (const run of runs) run.captureSoon();
    },
  );
  try {
    for (const { record, request } of sessions)
      await captureFirst(repository, record).catch((error: unknown) => request.onProblem(record, error));
    for (const one of sessions) runs.push(startRun(repository, one));
    const results = await Promise.allSettled(runs.map((run) => run.finish()));
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  } finally {
    release();
  }
}

/** The command has not written what is there, and may destroy it. */
async function captureFirst(repository: Repository, record: SessionRecord): Promise<void> {
  const isAtWork = record.owner !== undefined && !processIsGone(record.owner);
  if (!isCapturedByItself(record) || isAtWork) return;
  const options = { now: new Date(), label: BEFORE_RUN, onlyIfChanged: true, waitMs: LONGEST_WAIT_MS };
  await autocommit(new Session(repository, record), options);
}

/** Another agt may be capturing a large sandbox. */
const LONGEST_WAIT_MS = 60_000;

/** Exit codes by signals that no person sends to end a command. A shell around the agent passes them on. */
const KILLED = new Map(
  (['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGBUS'] as const).map((name) => [128 + constants.signals[name], name]),
);

function startRun(repository: Repository, { record, request }: SessionToRun) {
  const id = record.session_id;
  const { everyMs, now, isAgent, words, program = words[0] ?? '' } = request;
  const started = now();
  const command = startCommand(request);
  if (command.pid !== undefined) request.onStarted?.();
  const name = program.replace(/^.*\//s, '');
  const owner =
    command.pid === undefined
      ? undefined
      : { ...ownerOf(command.pid, name, now()), runner: identify(process.pid) };
  let work: Promise<unknown> = Promise.resolve();
  let problem: unknown;

  /** One after the other. */
  const enqueue = (action: () => Promise<unknown>) => {
    work = work
      .then(() => action())
      .catch((error: unknown) => {
        problem = error;
      });
  };

  const own = async () => {
    if (owner !== undefined)
      await takeOwnership({ repository, id }, owner, { waitMs: LONGEST_WAIT_MS, isAgent });
  };

  const capture = async (agentGoesOn = false) => {
    const present = readRecord(repository, id);
    if (present === undefined || !isCapturedByItself(present)) return; // accepted, rejected or removed meanwhile
    attempt(() => copyTranscriptInto(repository, present)); // without it, the files count
    const session = new Session(repository, present);
    const options = { agent: name, agentGoesOn, waitMs: LONGEST_WAIT_MS };
    const once = () => autocommit(session, { now: now(), ...options });
    // Ctrl-C of a terminal reaches agt's git too.
    await once().catch((error: unknown) => {
      if (isAgtError(error) && error.signal !== undefined) return once();
      throw error;
    });
  };

  let isWaiting = false;
  const captureAgain = () => {
    if (isWaiting) return;
    isWaiting = true;
    enqueue(async () => {
      isWaiting = false;
      await own();
      await capture();
    });
  };

  enqueue(own);
  if (owner !== undefined && record.failure !== undefined) enqueue(() => capture(true));
  const timer = everyMs === undefined ? undefined : setInterval(captureAgain, everyMs);

  const finishCaptures = async () => {
    try {
      return await command.ended;
    } finally {
      clearInterval(timer);
      enqueue(async () => {
        problem = undefined; // the last autocommit has everything that earlier ones should have had
        await capture();
      });
      attempt(() => endAgentStates(repository.agtDir, id, started, now()));
      enqueue(() => endOwnership({ repository, id }, owner?.pid, LONGEST_WAIT_MS));
      await work;
      if (problem !== undefined) {
        await markFailed(new Session(repository, record), problem, now());
        request.onProblem(record, problem);
      }
    }
  };

  const finish = async () => {
    const end = await finishCaptures();
    const signal = KILLED.get(end.exitCode);
    if (signal !== undefined) await request.onKilled(record, `its command ${name} was ended by ${signal}`);
    return end;
  };

  return { command, captureSoon: () => enqueue(capture), finish };
}
