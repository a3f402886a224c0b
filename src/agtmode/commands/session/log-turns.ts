/** `agt log --turns`: the turns of a session or a folder. */
import { usageError } from '../../../errors.ts';
import { localTime } from '../../../local-time.ts';
import type { Session } from '../../../session/session.ts';
import { promptIn } from '../../../snapshot/format.ts';
import type { FileChange } from '../../../timetravel/timeline.ts';
import { filesOfTurns, undoneTurns } from '../../../timetravel/turn-files.ts';
import { readAuthors, type TurnSteps } from '../../../timetravel/turns.ts';
import type { Context } from '../../context.ts';
import { orNull, showPath } from '../../output/format.ts';
import { filesJson, parseNumber, parseSince, tableOfChanges } from '../../output/history.ts';
import { showInPager } from '../../output/pager.ts';
import type { Column } from '../../output/session-table.ts';

interface LogArguments {
  readonly number: string | undefined;
  readonly since: string | undefined;
  readonly turn: string | undefined;
  readonly stat: boolean;
  readonly json: boolean;
  readonly rest: readonly string[];
}

/** Newest first. */
export async function logTurns(context: Context, session: Session, args: LogArguments) {
  if (args.rest.length > 0 || args.turn !== undefined)
    throw usageError('--turns takes neither paths nor --turn', 'one turn: agt log --turn N --stat');
  const limit = args.number === undefined ? Number.POSITIVE_INFINITY : parseNumber(args.number);
  const since =
    args.since === undefined ? undefined : await parseSince(session.git, args.since, context.now());
  const authored = await readAuthors(session);
  const isSince = ({ snapshots, from }: TurnSteps) =>
    since === undefined || (snapshots.at(-1)?.time ?? from) >= since;
  const chosen = authored.turns.filter(isSince).toReversed().slice(0, limit);
  const files = await filesOfTurns(session.git, chosen, true, !args.json);
  const undone = await undoneTurns(session, authored);
  const entries = chosen.map((turn) => ({
    ...entryOf(turn, files.get(turn) ?? []),
    stands: !undone.has(turn),
  }));
  if (!args.json)
    await showInPager(
      context,
      entries.length === 0 ? noneOf(authored.begun) : tableOfChanges(context, COLUMNS, entries, args.stat),
    );
  return { json: entries };
}

type Entry = ReturnType<typeof entryOf> & { readonly stands: boolean };

function entryOf({ snapshots, from, ...turn }: TurnSteps, files: readonly FileChange[]) {
  const { number, session: session_id, prompt, agent, conversation } = turn;
  const last = snapshots.at(-1);
  const calls = snapshots.filter((one) => one.tool !== undefined && promptIn(one) === undefined);
  const sum = (count: (file: FileChange) => number | undefined) =>
    files.reduce((total, file) => total + (count(file) ?? 0), 0);
  return {
    number,
    session_id,
    ...orNull({ prompt, agent, conversation, commit: last?.commit }),
    began_at: from.toISOString(),
    at: (last?.time ?? from).toISOString(),
    calls: calls.length,
    failed_calls: calls.filter(({ call }) => call?.outcome === 'failed').length,
    insertions: sum(({ insertions }) => insertions),
    deletions: sum(({ removals }) => removals),
    files: filesJson(files, (path) => path.replace(/^sandbox\//, '')),
  };
}

function noneOf(begun: readonly TurnSteps[]): string {
  const isPrompted = begun.some(({ prompt }) => prompt !== undefined);
  return `no turns: ${isPrompted ? 'no prompt has led to the call of a tool yet' : 'agt knows prompts and calls from the hooks of agents'}\n`;
}

const COLUMNS: readonly Column<Entry>[] = [
  { heading: 'TURN', cell: ({ number }) => ({ text: String(number), style: 'yellow' }), alignRight: true },
  { heading: 'WHEN', cell: ({ at }) => localTime(new Date(at)), dispensable: 2 },
  { heading: 'AGENT', cell: ({ agent }) => agent ?? '', dispensable: 1 },
  {
    heading: 'CALLS',
    cell: ({ calls, failed_calls: failed }) => `${calls}${failed === 0 ? '' : ` (${failed} failed)`}`,
    alignRight: true,
  },
  { heading: 'FILES', cell: ({ files }) => String(files.length), alignRight: true },
  { heading: 'DIFF', cell: ({ insertions, deletions }) => `+${insertions} -${deletions}`, alignRight: true },
  { heading: 'PROMPT', cell: promptOf, flexible: true },
];

function promptOf({ prompt, stands }: Entry): string {
  return `${stands ? '' : '(undone) '}${showPath(prompt ?? '')}`.trimEnd();
}
