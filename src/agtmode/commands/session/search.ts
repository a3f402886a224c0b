/** agt search: where a text came from and where it went, in the snapshots of all sessions. */
import { join, relative, resolve } from 'node:path';
import { displayPath } from '../../../disk/path-bytes.ts';
import { realPath } from '../../../disk/real-path.ts';
import { EXIT, exitCodeFor, plural, usageError } from '../../../errors.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { localTime } from '../../../local-time.ts';
import { placeOf } from '../../../repository/known-repositories.ts';
import type { Repository } from '../../../repository/repository.ts';
import type { Session } from '../../../session/session.ts';
import { isUnder, TOP_FOLDERS } from '../../../snapshot/folders.ts';
import { oneLine } from '../../../snapshot/format.ts';
import type { Occurrence, Step } from '../../../timetravel/search/in-files.ts';
import { search, stepsOf } from '../../../timetravel/search/search.ts';
import { parsePathspec, pathInSession } from '../../../timetravel/session-paths.ts';
import { defineCommand, option } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { findSources, named, nameOf, type Source } from '../../everywhere.ts';
import { orNull, paint, restoreNote, shortPaths, showPath } from '../../output/format.ts';
import { parseNumber, parseSince } from '../../output/history.ts';
import { withPager } from '../../output/pager.ts';
import { sessionHere, sessionIfAny } from '../../session-here.ts';

export const sessionSearch = defineCommand({
  usage: 'search [text]',
  takesRest: 'paths',
  summary: 'find the snapshots in which a text came or went',
  description:
    'List the snapshots of all sessions in which the number of places with a text changed, newest first, as git log -S ' +
    'does for commits: session, snapshot, time, agent, call of a tool or prompt, + if the text came and - if it went, file ' +
    'and first line. Sessions that have ended count as long as agt gc has not deleted their snapshots, and so do the ' +
    'snapshots of the folder that you are in. agt restore and agt cat take the name of a snapshot. Paths are relative to ' +
    'the sandbox, or to the current directory. Without any result, exit with 1.',
  positionals: { text: option.value('the text') },
  options: {
    text: option.value('the text, in place of the argument: --text=-x'),
    regex: option.value('find lines by this regular expression, as git log -G does', 'G'),
    'ignore-case': option.flag('capital and small letters are the same', 'i'),
    prompt: option.flag(
      'search the first words of prompts, and no files; capital and small letters are the same',
    ),
    path: option.many('search only in this file or directory, as after --'),
    since: option.value('search only snapshots since this time, such as "2 hours ago"'),
    number: option.value('list at most this many', 'n'),
    ...option.shared('session', 'everywhere', 'json'),
  },
  examples: [
    ['agt search parseDate', 'list who wrote parseDate, and who deleted it'],
    ["agt search -G 'TODO|FIXME' --since '1 week ago' -- src", 'search with a regular expression, in src'],
    ['agt search --prompt login', 'find the prompts about the login'],
  ],
  run: async (args, context) => {
    // As in git grep, the text may come after `--`, and another `--` then.
    const isAfter = (args.text ?? args.regex) === undefined;
    const text = isAfter ? args.rest[0] : args.text;
    const paths = args.rest.slice(isAfter ? (args.rest[1] === '--' ? 2 : 1) : 0);
    const pattern = patternOf(text, args.regex, args.ignoreCase || args.prompt);
    const limit = parseNumber(args.number);
    if (args.everywhere && args.session !== undefined)
      throw usageError('--everywhere searches all sessions', 'leave out --session, or --everywhere');
    const here =
      args.session === undefined ? await sessionIfAny(context) : await sessionHere(context, args.session);
    const { everywhere } = args;
    const found = args.session === undefined ? await findSources(context, everywhere) : undefined;
    const { sources = [], errors = [], warnings = '' } = found ?? {};
    const chosen = found === undefined && here !== undefined ? [here] : sources;
    const repositories = chosen.map(({ repository }) => repository);
    const git = repositories[0]?.git ?? (await context.git());
    const since = await parseSince(git, args.since, context.now());
    const given = [...(args.path ?? []), ...paths];
    if (args.prompt && given.length > 0)
      throw usageError('--prompt searches no files', 'leave out the paths, or --prompt');
    const toFolder = await folderPaths(context, here);
    const request = {
      pattern,
      inPrompts: args.prompt,
      pathspecs: given.map((spec) => parsePathspec(spec, toFolder)),
    };
    const session = args.session === undefined ? undefined : here?.id;
    const wanted = { since, session, prompts: args.prompt };
    const entries: Entry[] = [];
    const show = (steps: readonly Step[], found: AsyncIterable<Occurrence> | readonly Occurrence[]) =>
      withPager(context, async (write) => {
        const describe = lineWriter(context, steps, everywhere ? sources : [], args.prompt);
        for await (const occurrence of found) {
          if (entries.length >= limit) return;
          entries.push(entryOf(occurrence));
          if (!args.json && !(await write(describe(occurrence)))) return;
        }
      });
    let looked = 0;
    const open = async (repository: Repository) => {
      const steps = await stepsOf(repository, wanted);
      looked += steps.length;
      return { repository, steps };
    };
    if (everywhere) {
      const all: Occurrence[] = [];
      for (const repository of repositories)
        await open(repository)
          .then((source) => search([source], request, (found) => addFirst(all, found, limit)))
          .catch((error: unknown) => {
            if (exitCodeFor(error) === EXIT.usage) throw error;
            errors.push(named(placeOf(repository), error));
          });
      const timeOf = ({ snapshot }: Occurrence) => snapshot.time.getTime();
      const newestFirst = withoutCopies(all).toSorted((a, b) => timeOf(b) - timeOf(a));
      await show(newestFirst, newestFirst);
    } else {
      const sources = await Promise.all(repositories.map(open));
      const steps = sources.flatMap((source) => source.steps);
      await search(sources, request, (found) => show(steps, found));
    }
    const firstWords = args.prompt ? '; agt keeps only the first words of a prompt' : '';
    const nothing = `note: nothing found in ${plural(looked, 'snapshot')}${firstWords}\n`;
    const notes = entries.length === 0 && limit > 0 ? nothing : '';
    return { json: entries, failed: entries.length === 0, notes, warnings, errors };
  },
});

function patternOf(text: string | undefined, regex: string | undefined, ignoresCase: boolean) {
  const given = text ?? regex;
  if (given === undefined || given === '' || (text !== undefined && regex !== undefined))
    throw usageError(
      given === undefined ? 'no text given' : given === '' ? 'the text is empty' : 'a text and -G are given',
      'give one: agt search TEXT, or agt search -G REGEX',
    );
  return { text: given, isRegex: text === undefined, ignoresCase };
}

/** In a session or in a folder with snapshots the paths are those of that; elsewhere they are as in the worktree. */
async function folderPaths(context: Context, here: Session | undefined): Promise<(path: string) => string> {
  if (here !== undefined) return (path) => pathInSession(here.record, path, context.cwd, new Set());
  const cwd = realPath(context.cwd);
  const top = realPath((await context.repositoryIfAny())?.worktree ?? cwd);
  return (path) => {
    const inFolder = join('sandbox', relative(top, resolve(cwd, path)));
    if (isUnder(inFolder, TOP_FOLDERS)) return Buffer.from(inFolder).toString('latin1');
    throw usageError(
      `"${path}" is not in ${top}`,
      'paths are relative to the sandbox, or to the current directory',
    );
  };
}

async function addFirst(all: Occurrence[], found: AsyncIterable<Occurrence>, most: number): Promise<void> {
  let left = most;
  for await (const one of found) {
    if (left-- <= 0) return;
    all.push(one);
  }
}

/** Of a snapshot that several repositories have, what was found where it was made, else in the first one. */
function withoutCopies(all: readonly Occurrence[]): Occurrence[] {
  const places = new Map<string, Occurrence>();
  for (const one of all) {
    const other = places.get(one.snapshot.commit);
    if (other === undefined || (other.isPulled && !one.isPulled)) places.set(one.snapshot.commit, one);
  }
  return all.filter((one) => places.get(one.snapshot.commit)?.repository === one.repository);
}

type Entry = ReturnType<typeof entryOf>;

function entryOf({ path, change, line, ...step }: Occurrence) {
  return {
    ...stepJson(step),
    repository: step.folder === undefined ? step.repository.commonDir : null,
    path: path === undefined ? null : displayPath(path),
    change,
    ...orNull({ line: line?.number, text: line?.text }),
  };
}

export function stepJson({ snapshot, folder, agent, author, prompt }: Step) {
  const { session, bySession, commit, time, conversation, label, tool, before, call } = snapshot;
  return {
    session_id: folder === undefined ? session : null,
    folder: folder?.checkout ?? null,
    commit,
    at: time.toISOString(),
    author,
    ...orNull({ agent, conversation, prompt, label, tool }),
    ...orNull({ call_id: (before ?? call)?.id, summary: call?.summary }),
    ...orNull({ before: before?.tool, outcome: call?.outcome, by_session: bySession }),
  };
}

/** The call of a tool and the prompt keep so many columns. */
const WIDEST_STEP = 32;

/** One line for each, in columns as wide as any needs; the first one below the headings. `known`: of `--everywhere`. */
function lineWriter(
  context: Context,
  steps: readonly Step[],
  known: readonly Source[],
  inPrompts: boolean,
): (found: Occurrence) => string {
  const column = (heading: string, cell: (step: Step) => string) => {
    const width = steps.reduce((most, step) => Math.max(most, cell(step).length), heading.length);
    return { heading, cell: (step: Step) => cell(step).padEnd(width), width };
  };
  const colour = paint(context.colour());
  const placeOfStep = ({ folder, repository }: Step) => folder?.checkout ?? placeOf(repository);
  const where = shortPaths(known, context.env['HOME']);
  const cells = [
    ...(known.length > 0 ? [column('WHERE', (step) => showPath(where.get(placeOfStep(step)) ?? ''))] : []),
    column('SESSION', ({ folder, snapshot }) => nameOf(snapshot.session, folder)),
    column('SNAPSHOT', ({ snapshot }) => shortOid(snapshot.commit)),
    column('WHEN', ({ snapshot }) => localTime(snapshot.time)),
    column('AGENT', (step) => step.agent ?? '-'),
    ...(inPrompts ? [] : [column('STEP', (step) => cut(workOf(step), WIDEST_STEP))]),
  ];
  const start = cells.reduce((sum, { width }) => sum + width + GAP.length, 0);
  const room = Math.max(WIDEST_STEP, (context.columns ?? Infinity) - start - '+ '.length);
  const headings = cells.map(({ heading, width }) => heading.padEnd(width));
  headings.push(inPrompts ? 'PROMPT' : 'TEXT');
  let above = `${headings.map((heading) => colour('dim', heading)).join(GAP)}\n`;
  return (found) => {
    const { change, path, line } = found;
    const sign = change === 'came' ? '+' : '-';
    const text = line?.text === undefined ? '(binary)' : `${line.number}: ${oneLine(line.text)}`;
    const rest = path === undefined ? (found.prompt ?? '') : `${displayPath(path)}:${text}`;
    const painted = path === undefined ? '' : `${colour(sign === '+' ? 'green' : 'red', sign)} `;
    const row = cells.map(({ heading, cell }) =>
      heading === 'SNAPSHOT' ? colour('yellow', cell(found)) : cell(found),
    );
    const shown = `${above}${[...row, painted].join(GAP)}${cut(showPath(rest), room)}\n`;
    above = '';
    return shown;
  };
}

const GAP = '  ';

/** `Edit: fix the login`, the prompt, or the label. */
export function workOf({ snapshot, prompt }: Step): string {
  const { tool, call, before, label, restored, restoredBy } = snapshot;
  const summary = call?.summary === undefined ? '' : `: ${call.summary}`;
  const done = before === undefined ? tool && `${tool}${summary}` : `before ${before.tool}`;
  return showPath(
    done ?? prompt ?? label ?? (restored === undefined ? '-' : restoreNote(restored, restoredBy)),
  );
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
