import { displayPath } from '../../../disk/path-bytes.ts';
import { usageError } from '../../../errors.ts';
import type { Repository } from '../../../repository/repository.ts';
import { findSession } from '../../../session/locate.ts';
import { snapshotRefs } from '../../../session/record.ts';
import { readHistory, type Snapshot } from '../../../snapshot/history.ts';
import { parseTime } from '../../../snapshot/select.ts';
import {
  type Namesakes,
  pathOfAgent,
  pathspecInFolder,
  readNamesakes,
} from '../../../timetravel/agent-paths.ts';
import { pathInSession } from '../../../timetravel/restore/scope.ts';
import { readTimeline, type SnapshotChanges } from '../../../timetravel/timeline.ts';
import { defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../../command-line/command.ts';
import { pathspecArguments } from '../../command-line/pathspec-arguments.ts';
import { fileSize, json, localTime, showPath, table } from '../../output/format.ts';
import { showInPager } from '../../output/pager.ts';

export const sessionLog = defineCommand({
  usage: 'session log [id]',
  group: 'snapshots',
  summary: 'list the snapshots of a session and what each of them changed',
  description:
    'List snapshots, newest first: name, time, commit, number of files changed, added and deleted, size of the new ' +
    'content, HEAD of the sandbox, and label or tool. The list of a fork continues with the session it was forked from. ' +
    'With paths after --, list only snapshots that changed these paths, and count only these files. Paths are relative ' +
    'to the sandbox; xdg/log (or ../xdg/log) is in another folder of the session.',
  positionals: { id: SESSION_ID_OPTION },
  options: {
    number: { type: 'string', alias: 'n', describe: 'list at most this many snapshots' },
    since: { type: 'string', describe: 'list only snapshots since this time, such as "2 hours ago"' },
    stat: { type: 'boolean', default: false, describe: 'list the files, with lines added and removed' },
    json: JSON_OPTION,
  },
  examples: [
    ['agt session log fix-login -n 10', 'list the last ten snapshots'],
    ['agt session log --since "2 hours ago" --stat -- src', 'list the changes in src, file by file'],
  ],
  run: async (args, context) => {
    const repository = await context.repository();
    const record = findSession(repository, args.id, context.cwd);
    const number = args.number === undefined ? Number.POSITIVE_INFINITY : parseNumber(args.number);
    const since =
      args.since === undefined ? undefined : await parseSince(repository, args.since, context.now());
    const history = await readHistory(repository.git, snapshotRefs(record));
    const [last] = history;
    const namesakes =
      last === undefined ? new Set<string>() : await readNamesakes(repository.git, [last.commit]);
    const inFolder = (path: string) => pathInSession(record, path, context.cwd, namesakes);
    const pathspecs = pathspecArguments(args).map((spec) => pathspecInFolder(spec, inFolder));

    const recent = history.filter(({ at }) => since === undefined || at >= since);
    // Which snapshots touch a path is known only when all have been looked at.
    const looked = pathspecs.length > 0 ? recent : recent.slice(0, number);
    const timeline = (await readTimeline(repository.git, looked, { pathspecs, countLines: args.stat }))
      .filter(({ files }) => pathspecs.length === 0 || files.length > 0)
      .slice(0, number);

    const places = new Map(history.map(({ commit }, n) => [commit, n]));
    const placeOf = ({ commit }: Snapshot) => places.get(commit) ?? 0;
    if (args.json) {
      context.out(
        json(timeline.map((entry) => entryJson(entry, placeOf(entry.snapshot), args.stat, namesakes))),
      );
      return 0;
    }
    const rows = timeline.map((entry) => entryRow(entry, placeOf(entry.snapshot), record.session_id));
    const [heading = '', ...lines] = table([HEADINGS, ...rows]).split(/(?<=\n)/);
    const text = lines.map((line, i) => line + (args.stat ? statLines(timeline[i], namesakes) : '')).join('');
    if (lines.length > 0) await showInPager(context, heading + text);
    return 0;
  },
});

const HEADINGS = ['SNAPSHOT', 'WHEN', 'COMMIT', 'CHANGED', 'ADDED', 'DELETED', 'SIZE', 'HEAD', 'WHAT'];

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
    localTime(snapshot.at),
    snapshot.commit.slice(0, 10),
    ...[changed, added, deleted].map(String),
    fileSize(size),
    snapshot.head?.slice(0, 10) ?? '-',
    showPath(what.filter((part) => part !== '').join(' ')),
  ];
}

function statLines(entry: SnapshotChanges | undefined, namesakes: Namesakes): string {
  const letters = { added: 'A', changed: 'M', deleted: 'D' };
  const rows = (entry?.files ?? []).map(({ path, kind, insertions, removals, size }) => [
    letters[kind],
    insertions === undefined ? `binary, ${fileSize(size)}` : `+${insertions} -${removals}`,
    showPath(displayPath(pathOfAgent(path, namesakes))),
  ]);
  return table(rows, '    ');
}

function entryJson(entry: SnapshotChanges, place: number, withFiles: boolean, namesakes: Namesakes) {
  const { snapshot } = entry;
  const files = entry.files.map(({ path, insertions, removals, ...rest }) => ({
    path: displayPath(pathOfAgent(path, namesakes)),
    ...rest,
    insertions: insertions ?? null,
    removals: removals ?? null,
  }));
  return {
    state: `@{${place}}`,
    commit: snapshot.commit,
    at: snapshot.at.toISOString(),
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
  if (!/^\d+$/.test(text)) throw usageError(`invalid number of snapshots "${text}"`);
  return Number(text);
}

async function parseSince(repository: Repository, text: string, now: Date): Promise<Date> {
  const time = await parseTime(repository.git, text, now);
  if (time !== undefined) return time;
  throw usageError(`invalid time "${text}"`, 'for example: "2 hours ago", "2026-11-20 14:00"');
}
