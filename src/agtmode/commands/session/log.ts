import { spawn } from 'node:child_process';
import { usageError } from '../../../errors.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { gitAnswer } from '../../../git/run/git.ts';
import { isTerminal } from '../../../process/streams.ts';
import type { Repository } from '../../../repository/repository.ts';
import { snapshotRefs } from '../../../session/record.ts';
import { requireHistory, type Snapshot } from '../../../snapshot/history.ts';
import { parseTime } from '../../../snapshot/resolve-snapshot.ts';
import {
  type AmbiguousFolders,
  parsePathspec,
  pathInSession,
  readAmbiguousFolders,
  shownPath,
} from '../../../timetravel/session-paths.ts';
import { readTimeline, type SnapshotChanges } from '../../../timetravel/timeline.ts';
import { defineSessionCommand, option } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { fileSize, fileStatus, LETTERS, localTime, orNull, showPath, table } from '../../output/format.ts';

export const sessionLog = defineSessionCommand({
  name: 'session log',
  alsoFolders: true,
  takesRest: true,
  summary: 'list the snapshots of a session and what each of them changed',
  description:
    'List snapshots, newest first: name, time, commit, number of files changed, added and deleted, size of the new ' +
    'content, HEAD of the sandbox, and label or tool. The list of a fork continues with the session it was forked from. ' +
    'With paths after --, list only snapshots that changed these paths, and count only these files. Paths are relative ' +
    'to the sandbox; xdg/log (or ../xdg/log) is in another folder of the session.',
  options: {
    number: option.value('list at most this many snapshots', 'n'),
    since: option.value('list only snapshots since this time, such as "2 hours ago"'),
    stat: option.flag('list the files, with lines added and removed'),
    ...option.shared('json'),
  },
  examples: [
    ['agt session log fix-login -n 10', 'list the last ten snapshots'],
    ['agt session log --since "2 hours ago" --stat -- src', 'list the changes in src, file by file'],
  ],
  run: async (args, context, { repository, record }) => {
    const limit = args.number === undefined ? Number.POSITIVE_INFINITY : parseNumber(args.number);
    const since =
      args.since === undefined ? undefined : await parseSince(repository, args.since, context.now());
    const history = await requireHistory(repository.git, snapshotRefs(record));
    const [last] = history;
    const ambiguous: AmbiguousFolders =
      last === undefined ? new Set() : await readAmbiguousFolders(repository.git, [last.commit]);
    const inFolder = (path: string) => pathInSession(record, path, context.cwd, ambiguous);
    const pathspecs = args.rest.map((spec) => parsePathspec(spec, inFolder));
    const chosen = history.filter(({ time }) => since === undefined || time >= since);
    const timeline = await readChanges(repository, chosen, { limit, pathspecs, countLines: args.stat });
    const numbers = new Map(history.map(({ commit }, n) => [commit, n]));
    const entries = timeline.map((entry) => entryJson(entry, numbers, ambiguous));
    if (!args.json) await showInPager(context, logText(entries, record.session_id, args.stat));
    return { json: args.stat ? entries : entries.map(({ files: _, ...entry }) => entry) };
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

const HEADINGS = ['SNAPSHOT', 'WHEN', 'COMMIT', 'CHANGED', 'ADDED', 'DELETED', 'SIZE', 'HEAD', 'WHAT'];

/** A table; with files, below each row the files that the snapshot changed. */
function logText(entries: readonly Entry[], sessionId: string, withFiles: boolean): string {
  if (entries.length === 0) return '';
  const rows = entries.map((entry) => entryRow(entry, sessionId));
  const [heading = '', ...lines] = table([HEADINGS, ...rows]).split(/(?<=\n)/);
  return heading + lines.map((line, i) => line + (withFiles ? fileLines(entries[i]) : '')).join('');
}

function entryRow(entry: Entry, sessionId: string): string[] {
  const notes = [
    entry.label ?? '',
    toolNote(entry),
    entry.agent === null ? '' : `(${entry.agent})`,
    entry.restored === null ? '' : `(restored ${shortOid(entry.restored)})`,
    entry.session_id === sessionId ? '' : `(in ${entry.session_id})`,
  ];
  return [
    entry.name,
    localTime(new Date(entry.at)),
    shortOid(entry.commit),
    ...[entry.modified, entry.added, entry.deleted].map(String),
    fileSize(entry.size),
    entry.head_commit === null ? '-' : shortOid(entry.head_commit),
    showPath(notes.filter((note) => note !== '').join(' ')),
  ];
}

/** `(Edit)`, `(Bash, failed: npm test)`. */
function toolNote({ tool, outcome, summary }: Entry): string {
  if (tool === null) return '';
  return `(${tool}${outcome === 'failed' ? ', failed' : ''}${summary === null ? '' : `: ${summary}`})`;
}

function fileLines(entry: Entry | undefined): string {
  const rows = (entry?.files ?? []).map(({ path, status, insertions, deletions, size }) => [
    LETTERS[status],
    insertions === null ? `binary, ${fileSize(size)}` : `+${insertions} -${deletions}`,
    showPath(path),
  ]);
  return table(rows, '    ');
}

type Entry = ReturnType<typeof entryJson>;

function entryJson(
  { snapshot, files }: SnapshotChanges,
  numbers: ReadonlyMap<string, number>,
  ambiguous: AmbiguousFolders,
) {
  const { commit, tree, time, session, label, tool, agent, conversation, call, restored, head } = snapshot;
  const count = (wanted: string) => files.filter(({ kind }) => kind === wanted).length;
  return {
    name: `@{${numbers.get(commit) ?? 0}}`,
    commit,
    tree,
    at: time.toISOString(),
    session_id: session,
    ...orNull({ label, tool, agent, conversation, call_id: call?.id, summary: call?.summary }),
    ...orNull({ outcome: call?.outcome, restored, head_commit: head }),
    modified: count('changed'),
    added: count('added'),
    deleted: count('deleted'),
    size: files.reduce((sum, { size }) => sum + size, 0),
    files: files.map(({ path, kind, insertions, removals: deletions, ...rest }) => ({
      path: shownPath(path, ambiguous),
      status: fileStatus(kind),
      ...rest,
      ...orNull({ insertions, deletions }),
    })),
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

/** Shows text as git shows its own output: through the user's pager if standard output is a terminal. */
async function showInPager(context: Context, text: string): Promise<void> {
  const pager =
    text !== '' && isTerminal(1) ? await gitAnswer(await context.git(), ['var', 'GIT_PAGER']) : '';
  if (!pager || pager === 'cat') return context.out(text);
  await new Promise<void>((resolve) => {
    // Ctrl-C is for the pager; agt waits for its end.
    const ignore = () => undefined;
    process.on('SIGINT', ignore);
    const env = { LESS: 'FRX', LV: '-c', ...context.env }; // the defaults that git sets
    const child = spawn('/bin/sh', ['-c', pager], { env, stdio: ['pipe', 'inherit', 'inherit'] });
    const end = () => {
      process.off('SIGINT', ignore);
      resolve();
    };
    child.on('error', () => {
      context.out(text);
      end();
    });
    child.on('close', end);
    child.stdin.on('error', () => undefined); // the user has left the pager
    child.stdin.end(text);
  });
}
