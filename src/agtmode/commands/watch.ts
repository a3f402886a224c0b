import { EXIT, formatError } from '../../errors.ts';
import { namedSession } from '../../session/find-session.ts';
import { SessionWatch, type WatchEvent } from '../../triggers/watch/watch.ts';
import { defineCommand } from '../command-line/command.ts';
import { milliseconds } from '../command-line/durations.ts';
import { captureJson, printCapture } from '../output/capture.ts';
import type { Program } from '../program.ts';

export const watch = defineCommand({
  usage: 'watch [ids..]',
  group: 'states',
  summary: 'capture sessions as their files change, until stopped',
  description:
    'Captures a session when nothing in its folder has changed for a moment, and now and then while it keeps changing. ' +
    'Without ids every active session is watched, those that are made meanwhile too. SIGINT or SIGTERM ends it after a ' +
    'last capture. Where the kernel cannot watch a folder, it is captured periodically, and that is said. File systems ' +
    'that others write to (NFS, shared folders of virtual machines) tell nothing: use cron there.',
  positionals: { ids: { type: 'string', array: true, describe: 'sessions (default: all that are active)' } },
  options: {
    debounce: { type: 'string', default: '2', describe: 'seconds without a change before a capture' },
    interval: {
      type: 'string',
      default: '30',
      describe: 'seconds from a change to its capture at most, and before what failed is tried again',
    },
    json: { type: 'boolean', default: false, describe: 'print a JSON object on each line' },
  },
  examples: [
    ['agt watch', 'every session of this repository'],
    ['agt watch fix-login --debounce 0.5', 'one session, soon after each change'],
  ],
  run: async (args, program) => {
    const quiet = Math.max(milliseconds('debounce', args.debounce), SHORTEST_MS);
    const interval = Math.max(milliseconds('interval', args.interval), SHORTEST_MS);
    const repository = await program.repository();
    const named = (args.ids ?? []).map((id) => namedSession(repository, id).session_id);
    const watching = new SessionWatch(repository, {
      ids: named.length === 0 ? undefined : named,
      quiet,
      interval,
      now: program.now,
      told: printer(program, args.json),
    });
    stopOnSignal(watching);
    return (await watching.run()) ? EXIT.done : EXIT.failed;
  },
});

/** Between two captures. */
const SHORTEST_MS = 10;

/** A second signal ends it at once. */
function stopOnSignal(watching: SessionWatch): void {
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Never without a listener: what cleans up git's processes would send the signal once more.
    process.on(signal, () => {
      if (!asked) watching.stop();
      else {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      }
      asked = true;
    });
  }
}

/** One line for each capture; what stays wrong is said once. */
function printer(program: Program, asJson: boolean): (event: WatchEvent) => void {
  const problems = new Map<string, string>();
  const isNews = (id: string, problem: string) => {
    const before = problems.get(id) ?? '';
    problems.set(id, problem);
    return problem !== before;
  };
  const line = (value: unknown) => program.out(`${JSON.stringify(value)}\n`);
  return (event) => {
    if (event.kind === 'captured') {
      const { record, result } = event;
      const { warnings, skipped, failed } = result;
      const news = isNews(record.session_id, JSON.stringify([warnings, skipped, failed]));
      if (result.outcome === 'unchanged' && !(news && failed.length > 0)) return;
      if (asJson) line({ event: 'captured', ...captureJson(record, result) });
      else
        printCapture(
          program,
          record,
          news ? result : { ...result, warnings: [], skipped: [], failed: [] },
          QUIET,
        );
    } else if (event.kind === 'failed') {
      const text = formatError(event.error, false);
      if (!isNews(event.id, text)) return;
      if (asJson) line({ event: 'failed', session_id: event.id, error: (event.error as Error).message });
      else program.err(text);
    } else if (asJson) {
      const { kind, id } = event;
      line({ event: kind, session_id: id, ...('reason' in event ? { periodic: event.reason ?? null } : {}) });
    } else if (event.kind === 'dropped') program.out(`${event.id}: no longer there, not watched any more\n`);
    else if (event.reason !== undefined)
      program.err(`warning: ${event.id}: captured periodically: ${event.reason}\n`);
    else program.out(`${event.id}: watched\n`);
  };
}

const QUIET = { quietWhenUnchanged: true, list: false };
