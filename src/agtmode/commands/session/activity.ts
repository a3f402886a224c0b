/** `agt log --all-sessions`: what the agents did, in this repository or everywhere. */

import { displayPath } from '../../../disk/path-bytes.ts';
import { plural } from '../../../errors.ts';
import { shownPath } from '../../../folders/store.ts';
import { localTime } from '../../../local-time.ts';
import { namedSession } from '../../../session/find-session.ts';
import { recordNamed } from '../../../session/record.ts';
import { landingPlace } from '../../../survey/landing-place.ts';
import {
  type ActivityRequest,
  readActivity,
  readAllAuthors,
  type Turn,
} from '../../../timetravel/activity.ts';
import { type Outcome, readOutcomes } from '../../../timetravel/outcomes.ts';
import { landedFiles } from '../../../timetravel/turn-files.ts';
import { defineCommand, option } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { findSources, named, nameOf, type Source } from '../../everywhere.ts';
import { orNull, shortPaths, showPath } from '../../output/format.ts';
import { filesJson, parseNumber, parseSince, tableOfChanges } from '../../output/history.ts';
import { showInPager } from '../../output/pager.ts';
import { landingJson } from '../../output/session.ts';
import type { Column } from '../../output/session-table.ts';

export const sessionActivity = defineCommand({
  usage: 'session activity [ids..]',
  summary: 'list what the agents of all sessions did; agt log --all-sessions',
  description:
    'List the turns of all agents, newest first: when the turn ended, its session and agent, the number of files ' +
    'that it changed, and the first words of the prompt, or the labels. A turn goes from one prompt to the next; ' +
    'agt knows prompts from the hooks of agents, and passes over those whose calls of tools have changed nothing, without ' +
    'a failure. Further rows say what agt accept has landed, as which commit, whether only in part, what agt unaccept ' +
    'took back, and which sessions are failed, rejected or removed now: such a row goes when agt undo brings its ' +
    'session back. A git ' +
    'revert of a landed commit stands in the row of that commit, which keeps its time, with --since as well. Files that ' +
    'an acceptance has brought into a folder are no changes there. Changes that came between two calls, or while two agents ' +
    'were at work, are of no turn: agt session log ID has them. A row (no agent) has changes that came after the last turn, ' +
    'such as your own, or without any hook. Sessions that have ended count as long as agt gc has ' +
    'not deleted their snapshots. agt log ID --turns numbers those of which ' +
    'hooks have told, for agt diff ID --turn N. agt activity and agt log --all-sessions are the same command.',
  positionals: { ids: option.many('only the turns of these sessions') },
  options: {
    'all-sessions': { ...option.flag('list what the agents of all sessions did'), hidden: true },
    everywhere: option.flag('in all repositories and folders with snapshots where you have run agt'),
    since: option.value('only turns with a snapshot, and ends, since this time, such as "1 week ago"'),
    until: option.value('only rows until this time, such as yesterday'),
    number: option.value('list at most this many rows', 'n'),
    stat: option.flag('list the files, with lines added and removed'),
    ...option.shared('json'),
  },
  examples: [
    ['agt log --all-sessions --since "1 week ago"', 'list what the agents did this week'],
    ['agt log --all-sessions --everywhere --stat', 'the same in all repositories, with the files'],
    ['agt activity fix-login docs', 'list what happened in two sessions'],
  ],
  run: async (args, context) => {
    const limit = parseNumber(args.number, 'rows');
    const hint = 'in all repositories: agt activity --everywhere';
    const { sources, errors: closed, warnings } = await findSources(context, args.everywhere, hint);
    // git reads a time only in a repository, and everywhere may begin in none.
    const git = sources[0]?.repository.git ?? (await context.git());
    const since = await parseSince(git, args.since, context.now());
    const until = await parseSince(git, args.until, context.now(), '23:59:59');
    const sessions = args.ids ?? [];
    const request = {
      sessions,
      since,
      limit: until ? Infinity : limit,
      countLines: args.stat || args.json,
    };
    const { rows, errors } = await readAll(sources, request);
    requireKnown(sessions, sources, rows);
    const wanted = until ? rows.filter(({ at }) => new Date(at) <= until) : rows;
    const entries = wanted.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, limit);
    if (!args.json) {
      const { everywhere, stat } = args;
      const time = [since && ` since ${localTime(since)}`, until && ` until ${localTime(until)}`];
      const none = limit === 0 ? '' : `no turns${time.filter(Boolean).join('')}\n`;
      const text =
        entries.length === 0 ? none : activityText(context, entries, everywhere ? sources : [], stat);
      await showInPager(context, text);
    }
    return {
      json: entries.map(({ place: _, name: __, key: ___, ...entry }) => entry),
      warnings,
      errors: [...closed, ...errors],
    };
  },
});

/** One that cannot be read hides no other. */
async function readAll(sources: readonly Source[], request: ActivityRequest) {
  const rows: Row[] = [];
  const errors: unknown[] = [];
  const users = sources.flatMap(({ repository, record }) => (record === undefined ? repository : []));
  // They are in the rows of their sessions.
  const landed =
    users.length === sources.length ? undefined : await landedFiles(users).catch(() => undefined);
  for (const source of sources) {
    const { repository, record, place } = source;
    const rowOf = (one: Turn | Outcome, key: string, entry: Entry): Row => ({
      ...{ place, key, name: nameOf(one.session, record) },
      ...entry,
    });
    try {
      const known = await readAllAuthors(repository, request.sessions);
      const turns = await readActivity(repository, known, {
        ...request,
        ...(record && landed && { landed }),
      });
      // Of one second, an end comes after its turn.
      for (const one of readOutcomes(repository, known, request))
        rows.push(rowOf(one, one.key, outcomeEntry(source, one)));
      for (const one of turns) rows.push(rowOf(one, one.first, turnEntry(source, one)));
    } catch (error) {
      errors.push(named(place, error));
    }
  }
  return { rows: withoutCopies(rows), errors };
}

/** Snapshots can outlive the metadata. @throws AgtError */
function requireKnown(ids: readonly string[], sources: readonly Source[], rows: readonly Row[]): void {
  const [first] = sources;
  const isKnown = (id: string) =>
    rows.some(({ session_id: known }) => known === id) ||
    sources.some(({ repository }) => recordNamed(repository, id));
  const unknown = ids.find((id) => !isKnown(id));
  if (first !== undefined && unknown !== undefined) namedSession(first.repository, unknown);
}

/** Of a session that several repositories have, each row once: the one with the most, else that of where it began. */
function withoutCopies(rows: readonly Row[]): Row[] {
  const places = new Map<string, Row>();
  for (const row of rows) {
    const other = places.get(row.key);
    const isBetter =
      other === undefined ||
      row.snapshots > other.snapshots ||
      (row.snapshots === other.snapshots && other.pulled && !row.pulled);
    if (isBetter) places.set(row.key, row);
  }
  return rows.filter(({ key, place }) => places.get(key)?.place === place);
}

type Entry = ReturnType<typeof turnEntry> | ReturnType<typeof outcomeEntry>;

function placeEntry({ repository, record }: Source, { session, agent }: Turn | Outcome) {
  return {
    repository: record === undefined ? repository.commonDir : null,
    folder: record?.checkout ?? null,
    session_id: record === undefined ? session : null,
    ...orNull({ agent }),
  };
}

const NOT_LANDED = {
  ...{ onto: null, lost: false, elsewhere: false, now_as: null },
  ...{ reverted_by: null, reverted_in_part: false },
};

function turnEntry(source: Source, turn: Turn) {
  const { number, prompt, labels, from, to, snapshots, failed, commit, files } = turn;
  const { record } = source;
  return {
    ...placeEntry(source, turn),
    ...NOT_LANDED,
    ...{ outcome: null, reason: null, pulled: turn.isPulled },
    ...orNull({ turn: number || undefined, prompt, by_session: turn.bySession }),
    labels,
    began_at: from.toISOString(),
    at: to.toISOString(),
    snapshots,
    failed_calls: failed,
    commit,
    stands: turn.stands,
    files: filesJson(files, (path) =>
      displayPath(record === undefined ? path.replace(/^sandbox\//, '') : shownPath(record, path)),
    ),
  };
}

function outcomeEntry(source: Source, one: Outcome) {
  const { outcome, at, landed, fate, reason } = one;
  return {
    ...placeEntry(source, one),
    ...(landed === undefined ? { commit: null, ...NOT_LANDED } : landingJson(landed, fate)),
    ...{ outcome, pulled: one.isPulled, ...orNull({ reason }) },
    ...{ turn: null, prompt: null, by_session: null, labels: [], began_at: null },
    ...{ at: at.toISOString(), snapshots: 0, failed_calls: 0 },
    stands: !fate.isLost && !one.isTakenBack && fate.revertedBy === undefined,
    files: [],
  };
}

type Row = Entry & { readonly place: string; readonly name: string; readonly key: string };

/** `sources`: those of `--everywhere`. */
function activityText(context: Context, rows: readonly Row[], sources: readonly Source[], stat: boolean) {
  const where = shortPaths(sources, context.env['HOME']);
  const cells: (Column<Row> | false)[] = [
    { heading: 'WHEN', cell: ({ at }) => localTime(new Date(at)).slice(0, MINUTES) },
    sources.length > 0 && { heading: 'WHERE', cell: ({ place }) => showPath(where.get(place) ?? place) },
    { heading: 'SESSION', cell: ({ name }) => name },
    { heading: 'AGENT', cell: ({ agent }) => agent ?? '' },
    { heading: 'FILES', cell: ({ outcome, files }) => (outcome === null ? String(files.length) : '') },
    { heading: 'WHAT', cell: whatOf, flexible: true },
  ];
  return tableOfChanges(
    context,
    cells.filter((cell) => cell !== false),
    rows,
    stat,
  );
}

function whatOf(row: Row): string {
  if (row.outcome !== null) return outcomeText(row);
  const { agent, turn, by_session: by, failed_calls: failed, prompt, labels, pulled, files, stands } = row;
  const words = prompt ?? labels.join('; ');
  const notes = [
    !stands && 'undone',
    pulled && 'pulled',
    failed > 0 && `${plural(failed, 'call')} failed`,
    by !== null && `by session ${by}`,
    words === '' && by === null && ((agent ?? turn) === null ? 'no agent' : 'no prompt'),
  ].filter((note) => note !== false);
  const [first, second, ...others] = files.map(({ path }) => path);
  const paths = [first, second, others.length > 0 && `${others.length} more`].filter(Boolean).join(', ');
  return [
    ...(notes.length > 0 ? [`(${notes.join(', ')})`] : []),
    showPath(words || (paths && `changed ${paths}`)),
  ]
    .join(' ')
    .trimEnd();
}

/** `accepted in part as 9b6a52d7ab on main` */
function outcomeText(row: ReturnType<typeof outcomeEntry>): string {
  const { outcome, commit, onto, pulled, reason } = row;
  const [as, lost] = outcome === 'unaccepted' ? ['', false] : ['as ', row.lost];
  const landed =
    commit === null || onto === null ? '' : ` ${as}${landingPlace({ ...row, commit, onto, lost })}`;
  const note = pulled ? '(pulled) ' : '';
  return `${note}${outcome.replaceAll('-', ' ')}${landed}${reason === null ? '' : `: ${showPath(reason)}`}`;
}

/** Characters of a time up to its minutes. */
const MINUTES = 16;
