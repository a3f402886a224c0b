import { AgtError, EXIT, formatError, usageError } from '../../errors.ts';
import { isCapturedByItself } from '../../filter/session-file.ts';
import { onSignals } from '../../process/interrupts.ts';
import type { Repository } from '../../repository/repository.ts';
import { namedSession } from '../../session/find-session.ts';
import { listRecords } from '../../session/record.ts';
import { answerQuestions } from '../../triggers/watch/questions.ts';
import { type WatchEvent, watchSessions } from '../../triggers/watch/session-watcher.ts';
import { defineCommand, option } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { answerFront, answerUntilIdle, sessionAsked } from '../front/answer-front.ts';
import { autocommitJson, reportAutocommit } from '../output/autocommit.ts';
import { errorJson } from '../output/format.ts';
import { adviceToSnapshot } from '../session-here.ts';
import { whyOff } from './autocommit.ts';

export const watch = defineCommand({
  usage: 'watch [ids..]',
  summary: 'autocommit sessions whenever their files change, until stopped',
  description:
    'Autocommit a session --debounce seconds after its last change, but no later than --interval seconds after the ' +
    'first one. Without ids, watch all active sessions, including those created later; there must be one. On SIGINT or SIGTERM, autocommit ' +
    'once more and exit. Meanwhile hooks of agents ask this process to autocommit, and so does the script of `agt shim ' +
    'install` named agt: they need not start agt. If the kernel cannot watch a folder, print a warning and autocommit every --interval seconds. ' +
    'The kernel does not see changes that other machines make (NFS, shared folders of virtual machines): use agt cron ' +
    'there.',
  positionals: { ids: option.many('session ids (default: all active sessions)') },
  options: {
    debounce: option.seconds('autocommit after this many seconds without a change', '2'),
    interval: option.seconds(
      'autocommit at most this many seconds after a change; retry a failed autocommit after as many',
      '30',
    ),
    idle: option.seconds(
      'only capture when hooks ask, and exit after so many seconds without a question; hooks start this',
    ),
    json: option.flag('print one JSON object per line'),
  },
  runsLong: true,
  examples: [
    ['agt watch', 'watch every session of this repository'],
    ['agt watch fix-login --debounce 0.5', 'watch one session, and autocommit soon after each change'],
  ],
  run: async (args, context) => {
    const debounceMs = Math.max(args.debounceMs, SHORTEST_MS);
    if (args.intervalMs < SHORTEST_INTERVAL_MS) throw usageError('--interval is at least 0.1 seconds');
    const repository = await context.repository();
    const off = await whyOff(context);
    if (off !== undefined) return args.json ? EXIT.done : off;
    if (args.idleMs !== undefined) {
      await answerUntilIdle(repository, context.env, args.idleMs);
      return EXIT.done;
    }
    const ids = (args.ids ?? []).map((id) => namedSession(repository, id).session_id);
    if (ids.length === 0) await requireSession(context, repository);
    const watcher = watchSessions(repository, {
      ...args,
      ids: ids.length === 0 ? undefined : ids,
      debounceMs,
      now: context.now,
      onEvent: eventPrinter(context, args.json),
    });
    stopOnSignal(watcher);
    const stopAnswering = await answerQuestions(repository.agtDir, context.env, (question) =>
      watcher.captureFor(sessionAsked(repository, question), () =>
        answerFront(repository, question, context.env),
      ),
    );
    try {
      return (await watcher.run()) ? EXIT.done : EXIT.failed;
    } finally {
      stopAnswering?.();
    }
  },
});

/** @throws AgtError if there is none to watch: agt would wait in silence. */
async function requireSession(context: Context, repository: Repository): Promise<void> {
  if (listRecords(repository).records.some(isCapturedByItself)) return;
  throw new AgtError('no active session here: nothing to watch', {
    hints: [
      'begin one, and watch again: agt new',
      'in a folder without a session, hooks of the agent take snapshots: agt hooks install AGENT',
      await adviceToSnapshot(context, 'to take one now'),
    ],
  });
}

/** With less, agt would do nothing but capture. */
const SHORTEST_MS = 10;
const SHORTEST_INTERVAL_MS = 100;

/** The first signal makes the watcher capture once more and end; the second one kills agt. */
function stopOnSignal(watcher: { stop(): void }): void {
  let stopping = false;
  // Always keep a listener: without one, the signal would end agt and the git that it runs.
  onSignals((signal) => {
    if (!stopping) watcher.stop();
    else {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    }
    stopping = true;
  });
}

function eventPrinter(context: Context, asJson: boolean): (event: WatchEvent) => void {
  const lastProblems = new Map<string, string>();
  return (event) => {
    const problem = problemOf(event);
    const id = 'record' in event ? event.record.session_id : event.id;
    const isNew = problem !== undefined && problem !== lastProblems.get(id);
    if (problem !== undefined) lastProblems.set(id, problem);
    if (!isWorthPrinting(event, isNew)) return;
    if (asJson) context.out(`${JSON.stringify(eventJson(event))}\n`);
    else printEvent(context, event, isNew);
  };
}

/** The problem of the session after this event: the same text as long as the problem is the same. */
function problemOf(event: WatchEvent): string | undefined {
  if (event.kind === 'failed') return formatError(event.error, false);
  if (event.kind !== 'captured') return undefined;
  const { warnings, skipped, failed } = event.result;
  return JSON.stringify([warnings, skipped, failed]);
}

/** A problem that lasts is printed once. */
function isWorthPrinting(event: WatchEvent, isNewProblem: boolean): boolean {
  if (event.kind === 'failed') return isNewProblem;
  if (event.kind !== 'captured') return true;
  const { outcome, failed } = event.result;
  return outcome !== 'unchanged' || (isNewProblem && failed.length > 0);
}

function eventJson(event: WatchEvent) {
  const { kind } = event;
  if (kind === 'captured') return { event: kind, ...autocommitJson(event.record, event.result) };
  const about = { event: kind, session_id: event.id };
  if (kind === 'failed') return { ...about, ...errorJson(event.error) };
  return kind === 'dropped' ? about : { ...about, periodic: event.reason ?? null };
}

function printEvent(context: Context, event: WatchEvent, isNewProblem: boolean): void {
  if (event.kind === 'captured') {
    const { record, result } = event;
    const shown = isNewProblem ? result : { ...result, warnings: [], skipped: [], failed: [] };
    const { text, notes } = reportAutocommit(record, shown, true);
    context.err(notes);
    context.out(text);
  } else if (event.kind === 'failed') context.err(formatError(event.error, false));
  else if (event.kind === 'dropped') context.out(`${event.id}: session is gone, no longer watched\n`);
  else if (event.reason === undefined) context.out(`${event.id}: watching\n`);
  else {
    const problem = `cannot watch its files, autocommitting periodically: ${event.reason}`;
    context.err(`warning: ${event.id}: ${problem}\n`);
  }
}
