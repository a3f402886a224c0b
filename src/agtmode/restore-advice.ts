/** For the words of agt restore and agt undo that they do not take, such as a path in place of a snapshot: what does it. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { attempt, isAgtError } from '../errors.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { agtInFolder, commandToList } from '../session/advised-commands.ts';
import { isAttached, recordNamed } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { encodePath } from '../snapshot/tree-names.ts';
import { previewRestore } from '../timetravel/restore/preview.ts';
import { pathInSession, readAmbiguousFolders } from '../timetravel/session-paths.ts';
import { splitAtRest } from './command-line/parse-without-yargs.ts';
import type { Context } from './context.ts';
import { sessionAndWords, sessionIfAny } from './session-here.ts';

/** `ofGit`: the user may have meant git's own command. */
export async function adviseOnWords(
  error: unknown,
  [command, ...args]: readonly string[],
  ofGit: boolean,
  context: Context,
): Promise<never> {
  if (isAgtError(error)) {
    const given = sortWords(args);
    const { hints, isPath } = await advise(given, command === 'undo', context).catch(() => NONE);
    const isExample = (hint: string) =>
      hint.startsWith('for example') && (command === 'undo' || given.paths.length === 0);
    const examples = error.hints.filter(isExample);
    // git restore has options that people type.
    const isOfOption = command === 'undo' && error.message.startsWith('unknown option');
    if (hints.length > 0 && !isOfOption) error.hints.splice(0, Infinity, ...examples, ...hints);
    const ofBoth = args.filter((word) => !['-n', '--dry-run', '--json'].includes(word));
    const isThere = given.words.some((word) => existsSync(resolve(context.cwd, word)));
    const isNoGit = args.some((word) => word.startsWith('@{')) || given.paths.length > 0;
    const isOfGit =
      ofGit && !isNoGit && (isPath || isThere) && !(await isSession(context, given.words[0] ?? ''));
    if (isOfGit && (await context.repositoryIfAny()) !== undefined)
      error.hints.push(
        `git's own command, which overwrites files: agt git restore ${ofBoth.map(shellQuote).join(' ')}`,
      );
  }
  throw error;
}

/** `paths`: those after `--` and `--path`. */
function sortWords(args: readonly string[]) {
  const [own, paths = []] = splitAtRest(args);
  const words: string[] = [];
  for (const [i, word] of own.entries()) {
    const value = /^--[\w-]+=(.*)/s.exec(word)?.[1];
    if (own[i - 1] === '--path' || word.startsWith('--path=')) paths.push(value ?? word);
    else if (value !== undefined || !word.startsWith('-')) words.push(value ?? word);
  }
  return { words, paths, flags: own.filter((word) => word.startsWith('-')) };
}

/** `isPath`: a word is the path of something that a snapshot has. */
interface Advice {
  readonly hints: string[];
  readonly isPath?: true;
}

const NONE: Advice = { hints: [] };

async function advise(
  { words, paths, flags }: ReturnType<typeof sortWords>,
  isUndo: boolean,
  context: Context,
): Promise<Advice> {
  const [first = '', second = ''] = words;
  // So it is as a prompt of an agent.
  const unit = words.find((word) => isUndo && ['step', 'turn'].includes(word));
  if (unit !== undefined && !(await isSession(context, unit))) {
    const others = words.filter((word) => word !== unit);
    const way = ['agt undo', ...(unit === 'turn' ? ['--turns'] : []), ...others.map(shellQuote)].join(' ');
    return { hints: [`in a shell: ${way}`] };
  }
  const hasValue = flags.some((flag) => ['--step', '--agent'].includes(flag));
  if (
    words.length === 2 &&
    !hasValue &&
    !(await isSession(context, first)) &&
    (await isSession(context, second))
  ) {
    const swapped = ['agt', isUndo ? 'undo' : 'restore', second, shown(first), ...flags].join(' ');
    return { hints: [`the session comes first: ${swapped}`] };
  }
  const found = await sessionAndWords(context, words, undefined, Infinity).catch(() => undefined);
  const session = found?.session ?? (await sessionIfAny(context));
  const history = (await session?.history()) ?? [];
  if (session === undefined || history.length === 0) return NONE;
  const { git, record } = session;
  const restore = `${agtInFolder(context.cwd)} restore${isAttached(record) ? '' : ` ${session.id}`}`;
  const list = `see: ${commandToList(record)}`;
  const rest = found?.words ?? words;
  const label = rest.join(' ');
  const isLabel = history.some((one) => one.label === label);
  // A time has blanks, and no quotes were around it.
  const isTime = !isLabel && rest.length > 1 && (await tryToFind(session, label, context, history));
  if (isTime || (isLabel && (isUndo || rest.length > 1))) {
    const back = [restore, shellQuote(label), ...(paths.length > 0 ? ['--', ...paths.map(shellQuote)] : [])];
    return { hints: [`to go to that snapshot: ${back.join(' ')}`, list] };
  }
  const namesakes = await readAmbiguousFolders(git, [history[0]?.commit ?? '']);
  const placeOf = (path: string) => attempt(() => pathInSession(record, path, context.cwd, namesakes));
  const isKnown = async (path: string) => (await newestWith(session, history, [placeOf(path)])) !== undefined;
  const known = await Promise.all(rest.map(isKnown));
  const others = rest.filter((_, i) => known[i] === false);
  const meant = [...rest.filter((_, i) => known[i]), ...paths];
  // A snapshot with paths after -- is right: the error is about something else.
  if (meant.length === 0 || (meant.length === paths.length && others.length > 0)) return NONE;
  const [spec = ''] = others;
  const named = others.length === 1 && (await tryToFind(session, spec, context, history));
  const snapshot = named ? spec : await newestOther(session, history, meant.map(placeOf), context.now());
  const path = meant.map(shellQuote).join(' ');
  const all = meant.length > 1 ? 'all of these; give one alone: ' : '';
  if (snapshot === undefined)
    return { hints: [`no earlier snapshot has another version of ${all}${path}`, list], isPath: true };
  return { hints: [`to bring a path back: ${restore} ${shown(snapshot)} -- ${path}`, list], isPath: true };
}

const tryToFind = (session: Session, spec: string, context: Context, history: readonly Snapshot[]) =>
  session.find(spec, context.now(), history).catch(() => undefined);

/** No shell needs quotes for `@{1}`. */
function shown(snapshot: string): string {
  return /^@(\{\d+\})?$/.test(snapshot) ? snapshot : shellQuote(snapshot);
}

async function isSession(context: Context, word: string): Promise<boolean> {
  const repository = await context.repositoryIfAny();
  return repository !== undefined && recordNamed(repository, word) !== undefined;
}

type Places = readonly (string | undefined)[];

/** The number of the newest one that has all of them, with another content than `but`. */
export async function newestWith(
  { git }: Session,
  history: readonly Snapshot[],
  places: Places,
  but?: string,
) {
  if (places.includes(undefined)) return undefined;
  const names = history.flatMap(({ commit }) =>
    places.map((place) => `${commit}:${encodePath(place ?? '')}`),
  );
  const found = await findObjects(git, names);
  const contents = history.map((_, n) => found.slice(n * places.length, (n + 1) * places.length));
  const oids = contents.map((objects) => objects.map((object) => object?.oid ?? '').join(' '));
  const n = contents.findIndex((objects, i) => !objects.includes(undefined) && oids[i] !== but);
  return n < 0 ? undefined : { n, oids: oids[n] };
}

/** The newest snapshot in which they are and are not as on disk. */
async function newestOther(session: Session, history: readonly Snapshot[], places: Places, now: Date) {
  const newest = await newestWith(session, history, places);
  const snapshot = history[newest?.n ?? -1];
  if (newest === undefined || snapshot === undefined) return undefined;
  const scope = places.flatMap((place) => place ?? []);
  const preview = await previewRestore(session, { scope, by: 'restore', now, choose: async () => snapshot });
  const other = preview.paths.length > 0 ? newest : await newestWith(session, history, places, newest.oids);
  return other && `@{${other.n}}`;
}
