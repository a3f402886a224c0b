import { showSize } from '../../../config/values.ts';
import { displayPath } from '../../../disk/path-bytes.ts';
import { usageError } from '../../../errors.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { localTime } from '../../../local-time.ts';
import type { Repository } from '../../../repository/repository.ts';
import { isAttached } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { isArrival, promptIn, THE_START } from '../../../snapshot/format.ts';
import type { Snapshot } from '../../../snapshot/history.ts';
import {
  type AmbiguousFolders,
  parsePathspec,
  pathInSession,
  readAmbiguousFolders,
  shownPath,
} from '../../../timetravel/session-paths.ts';
import { type FileChange, readTimeline, type SnapshotChanges } from '../../../timetravel/timeline.ts';
import { filesOfTurns, undoneTurns } from '../../../timetravel/turn-files.ts';
import {
  type AuthoredHistory,
  type AuthoredStep,
  bySessionOf,
  namesOfAgents,
  readAuthors,
  type TurnSteps,
  turnNumbered,
} from '../../../timetravel/turns.ts';
import { type Arguments, defineSessionCommand, option } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { orNull, restoreNote, showPath, toolNote } from '../../output/format.ts';
import { filesJson, parseNumber, parseSince, tableOfChanges } from '../../output/history.ts';
import { showInPager } from '../../output/pager.ts';
import type { Column } from '../../output/session-table.ts';

const OPTIONS = {
  number: option.value('list at most this many snapshots', 'n'),
  since: option.value('list only snapshots since this time, such as "2 hours ago"'),
  stat: option.flag('list the files, with lines added and removed'),
  turns: option.flag('list the turns of agents: what came of each prompt'),
  turn: option.value('list only the snapshots of the turn with this number'),
  ...option.shared('json'),
} as const;

export const sessionLog = defineSessionCommand({
  name: 'session log',
  elsewhere: { '--all-sessions': 'agt log --all-sessions' },
  alsoFolders: true,
  takesRest: 'paths',
  instead: 'of all sessions: agt activity',
  summary: 'list the snapshots of a session and what each of them changed',
  description:
    'List snapshots, newest first: name, time, commit, number of files changed, added and deleted, size of the new ' +
    'content, HEAD of the sandbox, and label or tool. The first one counts what differs from the commit that was ' +
    'checked out; without git, all files. The list of a fork continues with the session it was forked from. With ' +
    'paths after --, list only snapshots that changed these paths, and count only these files. Paths are relative to ' +
    'the sandbox; xdg/log (or ../xdg/log) is in another folder of the session. With --turns, CALLS counts the calls ' +
    'of tools that changed something or failed, and those that agt session record tells of.',
  options: OPTIONS,
  examples: [
    ['agt log --turns', 'list the prompts from which a change came, in this session or folder'],
    ['agt session log fix-login -n 10', 'list the last ten snapshots'],
    ['agt session log --since "2 hours ago" --stat -- src', 'list the changes in src, file by file'],
  ],
  run: async (args, context, session) => {
    const { repository, record } = session;
    if (args.turns) return logTurns(context, session, args);
    const limit = parseNumber(args.number);
    const since = await parseSince(session.git, args.since, context.now());
    const authored = await readAuthors(session);
    const history = authored.steps.map(({ snapshot }) => snapshot).reverse();
    const [last] = history;
    const ambiguous: AmbiguousFolders =
      last === undefined ? new Set() : await readAmbiguousFolders(repository.git, [last.commit]);
    const inFolder = (path: string) => pathInSession(record, path, context.cwd, ambiguous);
    const pathspecs = args.rest.map((spec) => parsePathspec(spec, inFolder));
    const turn = args.turn === undefined ? undefined : turnNumbered(session, authored, args.turn);
    const ofTurn = turn && new Set(turn.snapshots.map(({ commit }) => commit));
    const chosen = history.filter(
      ({ time, commit }) => (since === undefined || time >= since) && ofTurn?.has(commit) !== false,
    );
    const timeline = await readChanges(repository, chosen, { limit, pathspecs, countLines: args.stat });
    const numbers = new Map(history.map(({ commit }, n) => [commit, n]));
    const made = new Map(authored.steps.map((step) => [step.snapshot.commit, step]));
    const entries = timeline.map((entry) => ({
      ...entryJson(entry, numbers, ambiguous),
      ...authorJson(made.get(entry.snapshot.commit)),
    }));
    const first = isAttached(record) ? history.at(-1)?.commit : undefined;
    const ids = { id: record.session_id, first };
    const what = (entry: Entry) => showPath(notesOf(entry, ids, numbers).join(' '));
    const cells = [...COLUMNS, { heading: 'WHAT', cell: what, flexible: true } as const];
    const text = entries.length === 0 ? '' : tableOfChanges(context, cells, entries, args.stat);
    if (!args.json) await showInPager(context, text);
    const json = args.stat ? entries : entries.map(({ files: _, ...entry }) => entry);
    const isNone = since !== undefined && entries.length === 0;
    return { json, notes: isNone ? `note: no snapshots since ${localTime(since)}\n` : '' };
  },
});

/** With pathspecs, only snapshots that changed one of them: agt must read the changes of all to know which did. */
async function readChanges(
  repository: Repository,
  snapshots: readonly Snapshot[],
  { limit, ...options }: Parameters<typeof readTimeline>[2] & { readonly limit: number },
): Promise<SnapshotChanges[]> {
  if (options.pathspecs.length === 0) return readTimeline(repository.git, snapshots.slice(0, limit), options);
  const timeline = await readTimeline(repository.git, snapshots, options);
  return timeline.filter(({ files }) => files.length > 0).slice(0, limit);
}

const COLUMNS: readonly Column<Entry>[] = [
  { heading: 'SNAPSHOT', cell: ({ name }) => ({ text: name, style: 'yellow' }) },
  { heading: 'WHEN', cell: ({ at }) => localTime(new Date(at)) },
  { heading: 'COMMIT', cell: ({ commit }) => shortOid(commit), dispensable: 1 },
  { heading: 'CHANGED', cell: ({ modified }) => String(modified) },
  {
    heading: 'ADDED',
    cell: ({ added }) => ({ text: String(added), style: added > 0 ? 'green' : undefined }),
  },
  {
    heading: 'DELETED',
    cell: ({ deleted }) => ({ text: String(deleted), style: deleted > 0 ? 'red' : undefined }),
  },
  { heading: 'SIZE', cell: ({ size }) => showSize(size), dispensable: 2 },
  {
    heading: 'HEAD',
    cell: ({ head_commit: head }) => (head === null ? '-' : shortOid(head)),
    dispensable: 3,
  },
];

/** `first`: the snapshot of a folder that has all that was there before. */
function notesOf(
  entry: Entry,
  { id, first }: { readonly id: string; readonly first: string | undefined },
  known: ReadonlyMap<string, number>,
): string[] {
  const isFirst = entry.commit === first;
  const notBy = isFirst ? 'first snapshot' : `not by ${entry.agent}`;
  const isPrompt = promptIn({ label: entry.label ?? undefined }) !== undefined;
  const isEdited = isPrompt && entry.author === 'other' && changesIn(entry) > 0;
  const beforePrompt = isEdited ? `, changes ${isFirst ? 'not of this prompt' : notBy}` : '';
  return [
    entry.label ?? '',
    toolNote(entry),
    entry.by_session === null || isOfOther(entry) ? '' : `(by session ${entry.by_session})`,
    entry.agent === null ? '' : `(${isOfOther(entry) ? notBy : entry.agent}${beforePrompt})`,
    entry.restored === null || isArrival(entry) ? '' : restoredNote(entry, entry.restored, known),
    entry.session_id === id ? '' : `(in ${entry.session_id})`,
  ].filter((note) => note !== '');
}

/** Before a call or at the end of its turn, an agent has reported what somebody else has changed. */
function isOfOther(entry: Entry): boolean {
  return entry.author === 'other' && (entry.label ?? entry.tool) === null && changesIn(entry) > 0;
}

const changesIn = ({ modified, added, deleted }: Entry) => modified + added + deleted;

/** The start and what the undo of one thing brings back are in no list: the labels of these say what came back. */
function restoredNote({ label, restored_by: by }: Entry, to: string, known: ReadonlyMap<string, number>) {
  if (known.has(to)) return restoreNote(to, by);
  return label === null || label === THE_START ? '(restored)' : '';
}

type Entry = ReturnType<typeof entryJson> & ReturnType<typeof authorJson>;

function entryJson(
  { snapshot, files }: SnapshotChanges,
  numbers: ReadonlyMap<string, number>,
  ambiguous: AmbiguousFolders,
) {
  const { commit, tree, time, label, tool, agent, conversation, before, call, restored, restoredBy, head } =
    snapshot;
  const count = (wanted: string) => files.filter(({ kind }) => kind === wanted).length;
  return {
    name: `@{${numbers.get(commit) ?? 0}}`,
    commit,
    tree,
    at: time.toISOString(),
    session_id: snapshot.session,
    ...orNull({ label, tool, agent, conversation, call_id: (before ?? call)?.id, summary: call?.summary }),
    ...orNull({ before: before?.tool, outcome: call?.outcome, by_session: snapshot.bySession }),
    ...orNull({ restored, restored_by: restoredBy, head_commit: head }),
    modified: count('changed'),
    added: count('added'),
    deleted: count('deleted'),
    size: files.reduce((sum, { size }) => sum + size, 0),
    files: filesJson(files, (path) => shownPath(path, ambiguous)),
  };
}

/** Who made the change since the snapshot before, as far as agt knows. */
function authorJson(step: AuthoredStep | undefined) {
  return { author: step?.author ?? 'unknown', turn: step?.turn?.number ?? null, among: step?.among ?? [] };
}

/** `agt log --turns`: the turns of a session or a folder, newest first. */
async function logTurns(context: Context, session: Session, args: Arguments<typeof OPTIONS>) {
  if (args.rest.length > 0 || args.turn !== undefined)
    throw usageError('--turns takes neither paths nor --turn', 'one turn: agt log --turn N --stat');
  const limit = parseNumber(args.number);
  const since = await parseSince(session.git, args.since, context.now());
  const authored = await readAuthors(session);
  const agentOf = namesOfAgents([session.record], [authored]);
  const isSince = ({ snapshots, from }: TurnSteps) =>
    since === undefined || (snapshots.at(-1)?.time ?? from) >= since;
  const chosen = authored.turns.filter(isSince).toReversed().slice(0, limit);
  const { undone, gone } = await undoneTurns(session, authored, authored.turns);
  const files = await filesOfTurns(session.git, chosen, { countLines: true, asShown: true, gone });
  const entries = chosen.map((turn) => ({
    ...turnJson({ ...turn, agent: agentOf(turn) }, files.get(turn) ?? []),
    stands: !undone.has(turn),
  }));
  if (!args.json)
    await showInPager(
      context,
      entries.length === 0
        ? noneOf(authored, since)
        : tableOfChanges(context, TURN_COLUMNS, entries, args.stat),
    );
  return { json: entries };
}

type TurnEntry = ReturnType<typeof turnJson> & { readonly stands: boolean };

function turnJson(turn: TurnSteps, files: readonly FileChange[]) {
  const { number, session: session_id, prompt, agent, conversation, snapshots, from } = turn;
  const last = snapshots.at(-1);
  const calls = snapshots.filter((one) => one.tool !== undefined && promptIn(one) === undefined);
  const sum = (count: (file: FileChange) => number | undefined) =>
    files.reduce((total, file) => total + (count(file) ?? 0), 0);
  return {
    number,
    session_id,
    ...orNull({ prompt, agent, conversation, commit: last?.commit }),
    ...orNull({ by_session: bySessionOf(turn) }),
    began_at: from.toISOString(),
    at: (last?.time ?? from).toISOString(),
    calls: calls.length,
    failed_calls: calls.filter(({ call }) => call?.outcome === 'failed').length,
    insertions: sum(({ insertions }) => insertions),
    deletions: sum(({ removals }) => removals),
    files: filesJson(files, (path) => displayPath(path.replace(/^sandbox\//, ''))),
  };
}

function noneOf({ turns, begun }: AuthoredHistory, since: Date | undefined): string {
  if (turns.length > 0) return since === undefined ? '' : `no turns since ${localTime(since)}\n`;
  const isPrompted = begun.some(({ prompt }) => prompt !== undefined);
  return `no turns: ${isPrompted ? 'no call of a tool has changed anything yet; the first one that does begins turn 1' : 'agt knows prompts and calls from the hooks of agents'}\n`;
}

const TURN_COLUMNS: readonly Column<TurnEntry>[] = [
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

function promptOf({ prompt, by_session: by, stands }: TurnEntry): string {
  const words = prompt ?? (by === null ? '(no prompt)' : `(by session ${by})`);
  return `${stands ? '' : '(undone) '}${showPath(words)}`;
}
