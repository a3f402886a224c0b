import { EXIT, formatError } from '../../errors.ts';
import { namedSession } from '../../session/locate.ts';
import { SessionWatcher, type WatchEvent } from '../../triggers/watch/session-watcher.ts';
import { defineCommand } from '../command-line/command.ts';
import { parseDuration } from '../command-line/duration.ts';
import type { Context } from '../context.ts';
import { autocommitJson, printAutocommit } from '../output/autocommit.ts';

export const watch = defineCommand({
  usage: 'watch [ids..]',
  group: 'snapshots',
  summary: 'autocommit sessions whenever their files change, until stopped',
  description:
    'Autocommit a session --debounce seconds after its last change, but no later than --interval seconds after its ' +
    'first. Without ids, watch all active sessions, including those created later. On SIGINT or SIGTERM, autocommit ' +
    'once more and exit. If the kernel cannot watch a folder, print a warning and autocommit every --interval seconds. ' +
    'The kernel does not see changes that other machines make (NFS, shared folders of virtual machines): use agt cron ' +
    'there.',
  positionals: {
    ids: { type: 'string', array: true, describe: 'session ids (default: all active sessions)' },
  },
  options: {
    debounce: {
      type: 'string',
      default: '2',
      describe: 'autocommit after this many seconds without a change',
    },
    interval: {
      type: 'string',
      default: '30',
      describe:
        'autocommit at most this many seconds after a change; retry a failed autocommit after as many',
    },
    json: { type: 'boolean', default: false, describe: 'print one JSON object per line' },
  },
  examples: [
    ['agt watch', 'watch every session of this repository'],
    ['agt watch fix-login --debounce 0.5', 'watch one session, and autocommit soon after each change'],
  ],
  run: async (args, context) => {
    const quiet = Math.max(parseDuration('debounce', args.debounce), SHORTEST_MS);
    const interval = Math.max(parseDuration('interval', args.interval), SHORTEST_MS);
    const repository = await context.repository();
    const named = (args.ids ?? []).map((id) => namedSession(repository, id).session_id);
    const watching = new SessionWatcher(repository, {
      ids: named.length === 0 ? undefined : named,
      quiet,
      interval,
      now: context.now,
      told: printer(context, args.json),
    });
    stopOnSignal(watching);
    return (await watching.run()) ? EXIT.done : EXIT.failed;
  },
});

/** Between two captures. */
const SHORTEST_MS = 10;

/** A second signal ends it at once. */
function stopOnSignal(watching: SessionWatcher): void {
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
function printer(context: Context, asJson: boolean): (event: WatchEvent) => void {
  const problems = new Map<string, string>();
  const isNews = (id: string, problem: string) => {
    const before = problems.get(id) ?? '';
    problems.set(id, problem);
    return problem !== before;
  };
  const line = (value: unknown) => context.out(`${JSON.stringify(value)}\n`);
  return (event) => {
    if (event.kind === 'captured') {
      const { record, result } = event;
      const { warnings, skipped, failed } = result;
      const news = isNews(record.session_id, JSON.stringify([warnings, skipped, failed]));
      if (result.outcome === 'unchanged' && !(news && failed.length > 0)) return;
      if (asJson) line({ event: 'captured', ...autocommitJson(record, result) });
      else
        printAutocommit(
          context,
          record,
          news ? result : { ...result, warnings: [], skipped: [], failed: [] },
          QUIET,
        );
    } else if (event.kind === 'failed') {
      const text = formatError(event.error, false);
      if (!isNews(event.id, text)) return;
      if (asJson) line({ event: 'failed', session_id: event.id, error: (event.error as Error).message });
      else context.err(text);
    } else if (asJson) {
      const { kind, id } = event;
      line({ event: kind, session_id: id, ...('reason' in event ? { periodic: event.reason ?? null } : {}) });
    } else if (event.kind === 'dropped') context.out(`${event.id}: session is gone, no longer watched\n`);
    else if (event.reason !== undefined)
      context.err(
        `warning: ${event.id}: cannot watch its files, autocommitting periodically: ${event.reason}\n`,
      );
    else context.out(`${event.id}: watching\n`);
  };
}

const QUIET = { quietWhenUnchanged: true, list: false };
