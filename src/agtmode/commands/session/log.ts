import { displayPath } from '../../../disk/path-bytes.ts';
import { usageError } from '../../../errors.ts';
import type { Repository } from '../../../repository/repository.ts';
import { findSession } from '../../../session/find-session.ts';
import { snapshotRefs } from '../../../session/record.ts';
import { readHistory, type Snapshot } from '../../../snapshot/history.ts';
import { parseTime } from '../../../snapshot/parse-time.ts';
import { parsePathspec } from '../../../timetravel/pathspec.ts';
import {
  type AmbiguousFolders,
  pathInSession,
  readAmbiguousFolders,
  relativeToSandbox,
} from '../../../timetravel/session-paths.ts';
import { readTimeline, type SnapshotChanges } from '../../../timetravel/timeline.ts';
import { defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../../command-line/command.ts';
import { wordsAfterDashes } from '../../command-line/words-after-dashes.ts';
import { page } from '../../output/pager.ts';
import { json, showPath, table } from '../../output/print.ts';
import { fileSize, localTime } from '../../output/snapshot.ts';

export const sessionLog = defineCommand({
  usage: 'session log [id]',
  group: 'states',
  summary: 'the timeline of a session: every autocommit and what it changed',
  description:
    'Newest first: the name of the snapshot, when, its commit, files changed, added and deleted, the size of their new ' +
    "content, the agent's HEAD then, and the label or tool. A fork's timeline goes on into the session that it came " +
    'from. With paths after --, only snapshots that changed them are listed, and only these ' +
    'files are counted. Paths are relative to the sandbox; xdg/log or ../xdg/log is in another folder of the session.',
  positionals: { id: SESSION_ID_OPTION },
  options: {
    number: { type: 'string', alias: 'n', describe: 'no more than so many' },
    since: { type: 'string', describe: 'none before this time, in git\'s date syntax: "2 hours ago"' },
    stat: { type: 'boolean', default: false, describe: 'name the files, with lines added and removed' },
    json: JSON_OPTION,
  },
  examples: [
    ['agt session log fix-login -n 10', 'the last ten snapshots'],
    ['agt session log --since "2 hours ago" --stat -- src', 'what happened in src, file by file'],
  ],
  run: async (args, program) => {
    const repository = await program.repository();
    const record = findSession(repository, args.id, program.cwd);
    const number = args.number === undefined ? Number.POSITIVE_INFINITY : parseNumber(args.number);
    const since =
      args.since === undefined ? undefined : await parseSince(repository, args.since, program.now());
    const history = await readHistory(repository.git, snapshotRefs(record));
    const [last] = history;
    const ambiguous =
      last === undefined ? new Set<string>() : await readAmbiguousFolders(repository.git, [last.commit]);
    const inFolder = (path: string) => pathInSession(record, path, program.cwd, ambiguous);
    const pathspecs = wordsAfterDashes(args).map((spec) => parsePathspec(spec, inFolder));

    const recent = history.filter(({ time }) => since === undefined || time >= since);
    // Which snapshots touch a path is known only when all have been looked at.
    const looked = pathspecs.length > 0 ? recent : recent.slice(0, number);
    const timeline = (await readTimeline(repository.git, looked, { pathspecs, countLines: args.stat }))
      .filter(({ files }) => pathspecs.length === 0 || files.length > 0)
      .slice(0, number);

    const places = new Map(history.map(({ commit }, n) => [commit, n]));
    const placeOf = ({ commit }: Snapshot) => places.get(commit) ?? 0;
    if (args.json) {
      program.out(
        json(timeline.map((entry) => entryJson(entry, placeOf(entry.snapshot), args.stat, ambiguous))),
      );
      return 0;
    }
    const rows = timeline.map((entry) => entryRow(entry, placeOf(entry.snapshot), record.session_id));
    const [heading = '', ...lines] = table([HEADINGS, ...rows]).split(/(?<=\n)/);
    const text = lines.map((line, i) => line + (args.stat ? statLines(timeline[i], ambiguous) : '')).join('');
    if (lines.length > 0) await page(program, heading + text);
    return 0;
  },
});

const HEADINGS = ['STATE', 'WHEN', 'COMMIT', 'CHANGED', 'ADDED', 'DELETED', 'SIZE', 'HEAD', 'WHAT'];

function counts({ files }: SnapshotChanges) {
  const count = (wanted: string) => files.filter(({ kind }) => kind === wanted).length;
  return {
    changed: count('changed'),
    added: count('added'),
    deleted: count('deleted'),
    size: files.reduce((sum, { size }) => sum + size, 0),
  };
}

function entryRow(entry: SnapshotChanges, place: number, session: string): string[] {
  const { snapshot } = entry;
  const { changed, added, deleted, size } = counts(entry);
  const what = [
    snapshot.label ?? '',
    snapshot.tool === undefined ? '' : `(${snapshot.tool})`,
    snapshot.restored === undefined ? '' : `(restored ${snapshot.restored.slice(0, 10)})`,
    snapshot.session === session ? '' : `(in ${snapshot.session})`,
  ];
  return [
    `@{${place}}`,
    localTime(snapshot.time),
    snapshot.commit.slice(0, 10),
    ...[changed, added, deleted].map(String),
    fileSize(size),
    snapshot.head?.slice(0, 10) ?? '-',
    showPath(what.filter((part) => part !== '').join(' ')),
  ];
}

function statLines(entry: SnapshotChanges | undefined, ambiguous: AmbiguousFolders): string {
  const letters = { added: 'A', changed: 'M', deleted: 'D' };
  const rows = (entry?.files ?? []).map(({ path, kind, insertions, removals, size }) => [
    letters[kind],
    insertions === undefined ? `binary, ${fileSize(size)}` : `+${insertions} -${removals}`,
    showPath(displayPath(relativeToSandbox(path, ambiguous))),
  ]);
  return table(rows, '    ');
}

function entryJson(entry: SnapshotChanges, place: number, withFiles: boolean, ambiguous: AmbiguousFolders) {
  const { snapshot } = entry;
  const files = entry.files.map(({ path, insertions, removals, ...rest }) => ({
    path: displayPath(relativeToSandbox(path, ambiguous)),
    ...rest,
    insertions: insertions ?? null,
    removals: removals ?? null,
  }));
  return {
    state: `@{${place}}`,
    commit: snapshot.commit,
    at: snapshot.time.toISOString(),
    session_id: snapshot.session,
    label: snapshot.label ?? null,
    tool: snapshot.tool ?? null,
    restored: snapshot.restored ?? null,
    head: snapshot.head ?? null,
    ...counts(entry),
    ...(withFiles ? { files } : {}),
  };
}

function parseNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw usageError(`'${text}' is not a number of snapshots`);
  return Number(text);
}

async function parseSince(repository: Repository, text: string, now: Date): Promise<Date> {
  const time = await parseTime(repository.git, text, now);
  if (time !== undefined) return time;
  throw usageError(`'${text}' is not a time`, 'for example: "2 hours ago", "2026-11-20 14:00"');
}
