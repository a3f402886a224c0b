/** agt blame: who wrote each line. */
import { existsSync, lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { displayPath } from '../../../disk/path-bytes.ts';
import { AgtError, attempt, EXIT, usageError } from '../../../errors.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { findObjects } from '../../../git/objects/object-reader.ts';
import { findRenames } from '../../../git/objects/raw-diff.ts';
import { withoutIndex } from '../../../git/objects/scratch-index.ts';
import { type Git, gitText, inDirectory, resolveObject } from '../../../git/run/git.ts';
import { timeZone } from '../../../local-time.ts';
import { shellQuote } from '../../../process/shell-quote.ts';
import { commandToRestore } from '../../../session/advised-commands.ts';
import type { SessionId } from '../../../session/id.ts';
import { isAttached, readRecord } from '../../../session/record.ts';
import { Session } from '../../../session/session.ts';
import { decodePath, encodePath } from '../../../snapshot/tree-names.ts';
import { type AuthoredLine, type BlameRequest, blameFile } from '../../../timetravel/blame/blame.ts';
import { type Origin, originOf } from '../../../timetravel/blame/origin.ts';
import { NOT_COMMITTED } from '../../../timetravel/blame/porcelain.ts';
import { pathInSession, pathToWrite } from '../../../timetravel/session-paths.ts';
import { readAuthors } from '../../../timetravel/turns.ts';
import { defineCommand, option } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { agentTrace } from '../../output/agent-trace.ts';
import { json, orNull, showPath } from '../../output/format.ts';
import { showInPager } from '../../output/pager.ts';
import { newestWith } from '../../restore-advice.ts';
import { attachedIfUsable, refuseSession, repositoryHere, sessionIfAny } from '../../session-here.ts';

const USAGE = ['blame', 'agt blame [REVISION] FILE'] as const;

const GIT_OPTIONS = {
  w: option.flag('ignore changes of white space'),
  M: option.flag('find lines that were moved inside of the file'),
  C: option.flag('find lines that came from another file of the same commit'),
} as const;

export const blame = defineCommand({
  usage: 'blame [words..]',
  takesRest: 'paths',
  summary: 'show who wrote each line: which agent in which turn, or who committed it',
  description:
    'Print the lines of a file as git blame does. A line that came through the work of a session, or is still in one, ' +
    'names the agent, the session, the turn and the tool, also after a squash, a rebase, a cherry-pick or a rename. In a ' +
    'checkout with the hooks of an agent, so does a line that an agent wrote there. Give a revision first, if you do not ' +
    "mean the files on disk. git's own command is agt git blame.",
  positionals: { words: option.many('[<revision>] <file>') },
  otherOptions: 'agt git blame',
  elsewhere: { '--session': 'agt -C "$(agt path SESSION)" blame FILE' },
  options: {
    L: option.each('only these lines: <start>,<end> or :<function>, as in git blame; again: more'),
    ...GIT_OPTIONS,
    porcelain: option.flag('print as git blame --line-porcelain, with lines that begin with agt-'),
    export: { ...option.value('print a record of this form for other tools'), choices: ['agent-trace'] },
    ...option.shared('json'),
  },
  examples: [
    ['agt blame src/login.c', 'see which lines an agent wrote, and in which turn'],
    ['agt blame -L 10,20 v1.2 -- src/login.c', 'the same for ten lines of an older version'],
  ],
  run: async (args, context) => {
    const { revision, file } = await fileAndRevision(context, [...(args.words ?? []), ...args.rest], USAGE);
    const options = Object.keys(GIT_OPTIONS).filter((name) => args[name as keyof typeof GIT_OPTIONS]);
    const { lines, folder } = await blameHere(context, {
      ...{ file, revision, options: options.map((name) => `-${name}`) },
      choice: (args.L ?? []).flatMap((range) => ['-L', range]),
    });
    if (args.export !== undefined) {
      await context.repository();
      const name = await gitText(await context.git(), ['rev-parse', '--verify', revision ?? 'HEAD']);
      const about = { path: lines[0]?.path ?? file, revision: name, now: context.now() };
      context.out(json(agentTrace(lines, about)));
      return 0;
    }
    if (args.json) return { json: lines.map(lineJson) };
    if (args.porcelain) context.out(bytes(lines.map((line) => porcelainOf(line, folder)).join('')));
    else await showInPager(context, bytes(humanText(lines)));
    return 0;
  },
});

/** The last of the words is the file. @throws AgtError */
export async function fileAndRevision(context: Context, words: readonly string[], [name, usage]: Asked) {
  const [first, second, ...more] = words;
  if (first === undefined) throw usageError('no file given', `usage: ${usage}`);
  if (more.length > 0) {
    const all = words.join(' ');
    const isOne = existsSync(resolve(context.cwd, all.replace(/:\d+$/, '')));
    const quotes = isOne ? [`a path with spaces needs quotes: agt ${name} ${shellQuote(all)}`] : [];
    throw usageError(`unknown argument "${more[0]}"`, ...quotes, `usage: ${usage}`);
  }
  if (second === undefined) return { file: first, revision: undefined };
  if ((await resolveObject(await context.git(), first)) === undefined)
    await refuseSession(context, first, [name, second]);
  return { file: second, revision: first };
}

type Asked = readonly [command: string, usage: string];

type Wanted = Omit<BlameRequest, 'git' | 'repository' | 'here'>;

/** @throws AgtError that names the step which deleted or renamed the file, and the way back */
export async function requireFile(context: Context, { file, revision }: Pick<Wanted, 'file' | 'revision'>) {
  // A link may lead nowhere.
  if (revision !== undefined || attempt(() => lstatSync(resolve(context.cwd, file)))) return;
  const { session, folder } = await workHere(context);
  const [, before = '', path] = /^([^:]+):(.+)$/s.exec(file) ?? [];
  const isVersion = path !== undefined && (await resolveObject(await context.git(), before)) !== undefined;
  const [, name, line] = /^(.+):(\d+)$/.exec(file) ?? [];
  const isLine = name !== undefined && existsSync(resolve(context.cwd, name));
  const hints = isVersion
    ? [`the revision is a word of its own, before the file: ${before} ${path}`]
    : isLine
      ? [`a line is an option: agt blame -L ${line},${line} ${shellQuote(name)}`]
      : await adviceOnGone(context, session ?? folder, file).catch(() => []);
  throw new AgtError(`there is no file ${showPath(file)}`, { exitCode: EXIT.git, hints });
}

async function adviceOnGone({ cwd }: Context, session: Session | undefined, file: string): Promise<string[]> {
  if (session === undefined) return [];
  const { steps } = await readAuthors(session);
  const newestFirst = steps.map(({ snapshot }) => snapshot).reverse();
  const place = pathInSession(session.record, file, cwd, new Set());
  const { n = -1 } = (await newestWith(session, newestFirst, [place])) ?? {};
  const last = newestFirst[n];
  if (last === undefined) return [];
  const { record } = session;
  const from = isAttached(record) ? record.sandbox : cwd;
  const path = shellQuote(displayPath(pathToWrite(record, place, from, new Set())));
  const back = `to bring it back: ${commandToRestore(record, shortOid(last.commit))} -- ${path}`;
  const step = n === 0 ? undefined : steps.at(-n);
  if (step === undefined) return ['it has gone since the last snapshot', back];
  const { commit } = step.snapshot;
  const renames = await findRenames(withoutIndex(session.git), last.commit, commit, ['sandbox']);
  const name = renames.find(({ old }) => old === encodePath(place))?.name;
  const now = name && pathToWrite(record, decodePath(name), cwd, new Set());
  const what = now ? `renamed it to ${showPath(displayPath(now))}` : 'deleted it';
  const who = describeOrigin({ origin: originOf(step) });
  return [`step ${shortOid(commit)} ${what}${who === undefined ? '' : `: ${who}`}`, back];
}

async function workHere(context: Context) {
  const found = await sessionIfAny(context);
  const session = found !== undefined && !isAttached(found.record) ? found : undefined;
  const folder = session === undefined ? (await attachedIfUsable(context)).attached : undefined;
  return { session, folder };
}

/** With the session, or the folder, of an origin, if it is still known. */
export async function blameHere(context: Context, wanted: Wanted) {
  const repository = await repositoryHere(context);
  if (wanted.revision !== undefined && (await context.repositoryIfAny()) === undefined)
    throw new AgtError(`"${wanted.revision}" names a commit, and this folder has no git repository`, {
      hints: ['an older version of a file: agt cat SNAPSHOT:FILE'],
    });
  const { session, folder } = await workHere(context);
  await requireFile(context, wanted);
  const lines = await blameFile({
    git: inDirectory(repository.git, context.cwd),
    repository,
    here: { session, folder },
    ...wanted,
  });
  const sessionOf = ({ session: id }: Origin): Session | undefined => {
    const own = [session, folder].find((one) => one?.id === id);
    const record = own === undefined ? readRecord(repository, id as SessionId) : undefined;
    return own ?? (record && new Session(repository, record));
  };
  return { lines: await withWholeNames(repository.git, lines), sessionOf, folder: folder?.id };
}

const WHOLE_NAME = /^(?:\w{40}|\w{64})$/;

/** The map of an acceptance has the beginnings of the names of snapshots; `agt gc` may have deleted those. */
async function withWholeNames(git: Git, lines: readonly AuthoredLine[]): Promise<readonly AuthoredLine[]> {
  const given = new Set(lines.flatMap(({ origin }) => origin?.snapshot ?? []));
  const short = [...given].filter((name) => !WHOLE_NAME.test(name));
  const found = await findObjects(git, short);
  const known = new Map(short.map((name, i) => [name, found[i]?.oid]));
  return lines.map((line) => {
    const snapshot = known.get(line.origin?.snapshot ?? '');
    return line.origin && snapshot ? { ...line, origin: { ...line.origin, snapshot } } : line;
  });
}

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** Text of agt as bytes. */
const asBytes = (text: string) => Buffer.from(text).toString('latin1');

/** `claude fix-login turn 3 Edit`; undefined if git knows better who it was. */
export function describeOrigin({ origin }: Pick<AuthoredLine, 'origin'>): string | undefined {
  if (origin === undefined || origin.author === 'other' || origin.author === 'restore') return undefined;
  const { agent, author, session, bySession, turn, tool = '' } = origin;
  const who = agent ?? (author === 'agent' ? 'agent' : 'you or an agent in');
  const step = [who, session, ...(turn === undefined ? [] : [`turn ${turn}`]), tool].join(' ').trimEnd();
  return bySession === undefined ? step : `${step} (by session ${bySession})`;
}

/** All as wide as the widest one, for a reader. */
function padded(cells: readonly string[]): string[] {
  const widths = cells.map((cell) => displayPath(cell).length);
  const widest = Math.max(0, ...widths);
  return cells.map((cell, i) => cell + ' '.repeat(widest - (widths[i] ?? 0)));
}

function humanText(lines: readonly AuthoredLine[]): string {
  const origins = lines.map(describeOrigin);
  const names = origins.map((one, i) => (one ? asBytes(one) : (lines[i]?.details.get('author') ?? '')));
  const isOneFile = new Set(lines.map(({ path }) => path)).size === 1;
  const [who, where] = [padded(names), padded(lines.map(({ path }) => (isOneFile ? '' : ` ${path}`)))];
  const digits = Math.max(0, ...lines.map(({ number }) => String(number).length));
  const rows = lines.map((line, i) => {
    const { commit, number, details, content } = line;
    const hash = details.has('boundary') ? `^${shortOid(commit).slice(0, -1)}` : shortOid(commit);
    const when = dateOf(line, origins[i] !== undefined);
    return `${hash}${where[i]} (${who[i]} ${when} ${String(number).padStart(digits)}) ${content}\n`;
  });
  return rows.join('');
}

/** `2026-11-25 14:31:08 +0100`, in the time zone of the author; of a step, in that of the person who asks. */
function dateOf({ details, origin }: AuthoredLine, isOfStep: boolean): string {
  const time = isOfStep && origin ? origin.time : new Date(Number(details.get('author-time') ?? 0) * 1000);
  const zone = isOfStep ? undefined : (details.get('author-tz') ?? '+0000');
  const minutes =
    zone === undefined
      ? -time.getTimezoneOffset()
      : (zone.startsWith('-') ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5)));
  const local = new Date(time.getTime() + minutes * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)} ${timeZone(minutes)}`;
}

function porcelainOf(line: AuthoredLine, folder: string | undefined): string {
  const { commit, original, number, details, content, group, origin } = line;
  const place = origin?.session === folder ? 'folder' : 'session';
  const own = origin === undefined ? [] : Object.entries(originJson(origin));
  const lines = [
    `${commit} ${original} ${number}${group}`,
    ...[...details].map(([name, value]) => `${name} ${value}`.trimEnd()),
    ...own.flatMap(([name, value]) =>
      value === null ? [] : [asBytes(`agt-${name.replace(/^session/, place).replace('_', '-')} ${value}`)],
    ),
    `\t${content}`,
  ];
  return `${lines.join('\n')}\n`;
}

export function lineJson({ commit, path, original, number, details, content, origin }: AuthoredLine) {
  return {
    line: number,
    commit: NOT_COMMITTED.test(commit) ? null : commit,
    path: displayPath(path),
    original_line: original,
    content: displayPath(content),
    author: displayPath(details.get('author') ?? ''),
    author_mail: details.get('author-mail') ?? '',
    at: new Date(Number(details.get('author-time') ?? 0) * 1000).toISOString(),
    summary: displayPath(details.get('summary') ?? ''),
    origin: origin === undefined ? null : originJson(origin),
  };
}

function originJson(origin: Origin) {
  const { session, bySession, author, agent, turn, tool, call, prompt, snapshot, time } = origin;
  return {
    session,
    by: author,
    ...orNull({ by_session: bySession, agent, turn, tool, call, prompt }),
    snapshot: WHOLE_NAME.test(snapshot) ? snapshot : null,
    at: time.toISOString(),
  };
}
