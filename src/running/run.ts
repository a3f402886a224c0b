/** `agt session run`: a command in the sandbox of a session, with autocommits while it runs and when it has ended. */

import { constants } from 'node:os';
import { processIsGone } from '../disk/lock-owner.ts';
import { isAgtError } from '../errors.ts';
import { isCapturedByItself } from '../filter/session-file.ts';
import type { Repository } from '../repository/repository.ts';
import { type Owner, ownerOf } from '../session/owner.ts';
import { readRecord, type SessionRecord } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { autocommit } from '../triggers/autocommit.ts';
import {
  type CommandEnd,
  type CommandLine,
  passSignals,
  type RunningCommand,
  startCommand,
} from './command.ts';
import { changeOwner, markFailed } from './marks.ts';

export interface RunRequest extends CommandLine {
  /** Milliseconds between two autocommits; undefined: only at the end. */
  readonly everyMs: number | undefined;
  /** The name of the command, if the first word is that of a program which becomes it. */
  readonly program?: string | undefined;
  readonly now: () => Date;
  /** Is told of problems with autocommits when the command has ended: meanwhile the terminal is its own. */
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
  const runs: Run[] = [];
  const release = passSignals(
    () => runs.map(({ command }) => command),
    () => {
      for (const run of runs) run.captureSoon();
    },
  );
  try {
    for (const { record, request } of sessions) runs.push(new Run(repository, record, request));
    const results = await Promise.allSettled(runs.map((run) => run.finish()));
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  } finally {
    release();
  }
}

/** Another agt may be capturing a large sandbox. */
const LONGEST_WAIT_MS = 60_000;

/** Exit codes by signals that no person sends to end a command. A shell around the agent passes them on. */
const KILLED = new Map(
  (['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGBUS'] as const).map((name) => [128 + constants.signals[name], name]),
);

class Run {
  readonly command: RunningCommand;
  private readonly repository: Repository;
  private readonly record: SessionRecord;
  private readonly request: RunRequest;
  private readonly name: string;
  private readonly owner: Owner | undefined;
  private work: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private problem: unknown;

  constructor(repository: Repository, record: SessionRecord, request: RunRequest) {
    this.repository = repository;
    this.record = record;
    this.request = request;
    this.command = startCommand(request);
    const { pid } = this.command;
    this.name = (request.program ?? request.words[0] ?? '').replace(/^.*\//s, '');
    this.owner = pid === undefined ? undefined : ownerOf(pid, this.name, request.now());
    this.enqueue(() => this.own());
    this.startTimer();
  }

  captureSoon(): void {
    this.enqueue(() => this.capture());
  }

  async finish(): Promise<CommandEnd> {
    const end = await this.finishCaptures();
    const signal = KILLED.get(end.exitCode);
    if (signal !== undefined)
      await this.request.onKilled(this.record, `its command ${this.name} was ended by ${signal}`);
    return end;
  }

  private async finishCaptures(): Promise<CommandEnd> {
    try {
      return await this.command.ended;
    } finally {
      clearInterval(this.timer);
      this.enqueue(async () => {
        // The last autocommit has everything that earlier ones should have had.
        this.problem = undefined;
        await this.capture();
      });
      this.enqueue(() => this.disown());
      await this.work;
      if (this.problem !== undefined) {
        await markFailed(new Session(this.repository, this.record), this.problem, this.request.now());
        this.request.onProblem(this.record, this.problem);
      }
    }
  }

  private startTimer(): void {
    const { everyMs } = this.request;
    if (everyMs === undefined) return;
    let isWaiting = false;
    this.timer = setInterval(() => {
      if (isWaiting) return;
      isWaiting = true;
      this.enqueue(async () => {
        isWaiting = false;
        await this.own();
        await this.capture();
      });
    }, everyMs);
  }

  /** One after the other. */
  private enqueue(action: () => Promise<unknown>): void {
    this.work = this.work.then(action).catch((error: unknown) => {
      this.problem = error;
    });
  }

  private async capture(): Promise<void> {
    const record = readRecord(this.repository, this.record.session_id);
    if (record === undefined || !isCapturedByItself(record)) return; // accepted, rejected or removed meanwhile
    const attempt = () =>
      autocommit(new Session(this.repository, record), { now: this.request.now(), waitMs: LONGEST_WAIT_MS });
    // Ctrl-C of a terminal reaches agt's git too.
    await attempt().catch((error: unknown) => {
      if (isAgtError(error) && error.signal !== undefined) return attempt();
      throw error;
    });
  }

  /** Another command that runs in the session stays its owner. */
  private own(): Promise<void> {
    const { owner } = this;
    if (owner === undefined) return Promise.resolve();
    return this.changeOwner((present) => (present === undefined || processIsGone(present) ? owner : present));
  }

  private disown(): Promise<void> {
    return this.changeOwner((present) =>
      present?.pid === this.owner?.pid && present?.start === this.owner?.start ? undefined : present,
    );
  }

  private changeOwner(change: (present: Owner | undefined) => Owner | undefined): Promise<void> {
    return changeOwner(this.repository, this.record.session_id, change, LONGEST_WAIT_MS);
  }
}
