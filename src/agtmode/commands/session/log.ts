import { displayPath } from '../../../disk/path-bytes.ts';
import { usageError } from '../../../errors.ts';
import type { Repository } from '../../../repository/repository.ts';
import { findSession } from '../../../session/locate.ts';
import { snapshotRefs } from '../../../session/record.ts';
import { type Moment, readHistory } from '../../../snapshot/history.ts';
import { parseTime } from '../../../snapshot/select.ts';
import {
  type Namesakes,
  pathOfAgent,
  pathspecInFolder,
  readNamesakes,
} from '../../../timetravel/agent-paths.ts';
import { pathInSession } from '../../../timetravel/restore/scope.ts';
import { type MomentChanges, readTimeline } from '../../../timetravel/timeline.ts';
import { defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../../command-line/command.ts';
import { wordsAfterDashes } from '../../command-line/words-after-dashes.ts';
import { fileSize, localTime } from '../../output/moment.ts';
import { page } from '../../output/pager.ts';
import { json, showPath, table } from '../../output/print.ts';

export const sessionLog = defineCommand({
  usage: 'session log [id]',
  group: 'states',
  summary: 'the timeline of a session: every autocommit and what it changed',
  description:
    'Newest first: the name of the moment, when, its commit, files changed, added and deleted, the size of their new ' +
    "content, the agent's HEAD then, and the label or tool. A fork's timeline goes on into the session that it came " +
    'from. With paths after --, only moments that changed them are listed, and only these ' +
    'files are counted. Paths are relative to the sandbox; xdg/log or ../xdg/log is in another folder of the session.',
  positionals: { id: SESSION_ID_OPTION },
  options: {
    number: { type: 'string', alias: 'n', describe: 'no more than so many' },
    since: { type: 'string', describe: 'none before this time, in git\'s date syntax: "2 hours ago"' },
    stat: { type: 'boolean', default: false, describe: 'name the files, with lines added and removed' },
    json: JSON_OPTION,
  },
  examples: [
    ['agt session log fix-login -n 10', 'the last ten moments'],
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
    const namesakes =
      last === undefined ? new Set<string>() : await readNamesakes(repository.git, [last.commit]);
    const inFolder = (path: string) => pathInSession(record, path, program.cwd, namesakes);
    const pathspecs = wordsAfterDashes(args).map((spec) => pathspecInFolder(spec, inFolder));

    const recent = history.filter(({ at }) => since === undefined || at >= since);
    // Which moments touch a path is known only when all have been looked at.
    const looked = pathspecs.length > 0 ? recent : recent.slice(0, number);
    const timeline = (await readTimeline(repository.git, looked, { pathspecs, countLines: args.stat }))
      .filter(({ files }) => pathspecs.length === 0 || files.length > 0)
      .slice(0, number);

    const places = new Map(history.map(({ commit }, n) => [commit, n]));
    const placeOf = ({ commit }: Moment) => places.get(commit) ?? 0;
    if (args.json) {
      program.out(
        json(timeline.map((entry) => entryJson(entry, placeOf(entry.moment), args.stat, namesakes))),
      );
      return 0;
    }
    const rows = timeline.map((entry) => entryRow(entry, placeOf(entry.moment), record.session_id));
    const [heading = '', ...lines] = table([HEADINGS, ...rows]).split(/(?<=\n)/);
    const text = lines.map((line, i) => line + (args.stat ? statLines(timeline[i], namesakes) : '')).join('');
    if (lines.length > 0) await page(program, heading + text);
    return 0;
  },
});

const HEADINGS = ['STATE', 'WHEN', 'COMMIT', 'CHANGED', 'ADDED', 'DELETED', 'SIZE', 'HEAD', 'WHAT'];

function counts({ files }: MomentChanges) {
  const count = (wanted: string) => files.filter(({ kind }) => kind === wanted).length;
  return {
    changed: count('changed'),
    added: count('added'),
    deleted: count('deleted'),
    size: files.reduce((sum, { size }) => sum + size, 0),
  };
}

function entryRow(entry: MomentChanges, place: number, session: string): string[] {
  const { moment } = entry;
  const { changed, added, deleted, size } = counts(entry);
  const what = [
    moment.label ?? '',
    moment.tool === undefined ? '' : `(${moment.tool})`,
    moment.restored === undefined ? '' : `(restored ${moment.restored.slice(0, 10)})`,
    moment.session === session ? '' : `(in ${moment.session})`,
  ];
  return [
    `@{${place}}`,
    localTime(moment.at),
    moment.commit.slice(0, 10),
    ...[changed, added, deleted].map(String),
    fileSize(size),
    moment.head?.slice(0, 10) ?? '-',
    showPath(what.filter((part) => part !== '').join(' ')),
  ];
}

function statLines(entry: MomentChanges | undefined, namesakes: Namesakes): string {
  const letters = { added: 'A', changed: 'M', deleted: 'D' };
  const rows = (entry?.files ?? []).map(({ path, kind, insertions, removals, size }) => [
    letters[kind],
    insertions === undefined ? `binary, ${fileSize(size)}` : `+${insertions} -${removals}`,
    showPath(displayPath(pathOfAgent(path, namesakes))),
  ]);
  return table(rows, '    ');
}

function entryJson(entry: MomentChanges, place: number, withFiles: boolean, namesakes: Namesakes) {
  const { moment } = entry;
  const files = entry.files.map(({ path, insertions, removals, ...rest }) => ({
    path: displayPath(pathOfAgent(path, namesakes)),
    ...rest,
    insertions: insertions ?? null,
    removals: removals ?? null,
  }));
  return {
    state: `@{${place}}`,
    commit: moment.commit,
    at: moment.at.toISOString(),
    session_id: moment.session,
    label: moment.label ?? null,
    tool: moment.tool ?? null,
    restored: moment.restored ?? null,
    head: moment.head ?? null,
    ...counts(entry),
    ...(withFiles ? { files } : {}),
  };
}

function parseNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw usageError(`'${text}' is not a number of moments`);
  return Number(text);
}

async function parseSince(repository: Repository, text: string, now: Date): Promise<Date> {
  const time = await parseTime(repository.git, text, now);
  if (time !== undefined) return time;
  throw usageError(`'${text}' is not a time`, 'for example: "2 hours ago", "2026-11-20 14:00"');
}
