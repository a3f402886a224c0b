/** agt why FILE:LINE: the whole story of a line. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { displayPath } from '../../../disk/path-bytes.ts';
import { usageError } from '../../../errors.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { findObjects, readObject } from '../../../git/objects/object-reader.ts';
import { findRenames } from '../../../git/objects/raw-diff.ts';
import { withoutIndex } from '../../../git/objects/scratch-index.ts';
import { runGitOnTerminal } from '../../../git/run/git.ts';
import { localTime } from '../../../local-time.ts';
import { shellQuote } from '../../../process/shell-quote.ts';
import type { Session } from '../../../session/session.ts';
import { decodePath, encodePath } from '../../../snapshot/tree-names.ts';
import { NOT_COMMITTED } from '../../../timetravel/blame/porcelain.ts';
import { showDiff } from '../../../timetravel/diff/diff.ts';
import { spansOf } from '../../../timetravel/turn-files.ts';
import { type AuthoredStep, readAuthors } from '../../../timetravel/turns.ts';
import { defineCommand, option } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { lines as linesOf, showPath } from '../../output/format.ts';
import { blameHere, describeOrigin, fileAndRevision, lineJson, requireFile } from './blame.ts';

export const why = defineCommand({
  usage: 'why [words..]',
  takesRest: 'paths',
  elsewhere: { '-L': 'agt why FILE:LINE', '--session': 'agt -C "$(agt path SESSION)" why FILE:LINE' },
  summary: 'tell the story of a line: who wrote it, after which prompt, and what that changed',
  description:
    'Show who wrote a line, as agt blame knows it: the prompt, the call of a tool, the commit by which it came to your ' +
    'branch, and what that step changed in the file. Name the line as compilers and editors print it: <file>:<line>. ' +
    'Give a revision first, if you do not mean the files on disk.',
  positionals: { words: option.many('[<revision>] <file>:<line>, or <file> <line>') },
  options: { open: option.flag('show all that the turn changed'), ...option.shared('json') },
  examples: [
    ['agt why src/login.c:42', 'see the prompt and the change that line 42 comes from'],
    ['agt why src/login.c:42 --open', 'and everything else that its turn changed'],
    ['agt why v1.2 src/login.c:42', 'the same for a line of an older version'],
  ],
  run: async (args, context) => {
    const words = withLine([...(args.words ?? []), ...args.rest]);
    const { file: place, revision } = await fileAndRevision(context, words, USAGE);
    if (!place.includes(':')) await requireFile(context, { file: place, revision });
    const { file, number } = placeOf(place, context.cwd);
    const wanted = { file, revision, options: [], choice: ['-L', `${number},${number}`] };
    const { lines, sessionOf } = await blameHere(context, wanted);
    const [line] = lines;
    if (line === undefined) throw usageError(`${showPath(file)} has no line ${number}`, `usage: ${USAGE[1]}`);
    if (args.json) return { json: lineJson(line) };
    const { origin, details, commit, path } = line;
    const isCommitted = !NOT_COMMITTED.test(commit);
    const isCut = details.has('boundary') && (await hasParents(context, commit));
    const session = origin && sessionOf(origin);
    const steps = session === undefined ? [] : (await readAuthors(session)).steps;
    // Undefined if its snapshots are gone.
    const step = origin && steps.find(({ snapshot }) => snapshot.commit.startsWith(origin.snapshot));
    const among = new Set(step?.among).size;
    const oneOf = origin?.author === 'unknown' && among > 1 ? `one of ${among} agents` : 'you or an agent';
    context.out(
      linesOf([
        `${showPath(file)}:${number}: ${displayPath(line.content)}`,
        `  by      ${describeOrigin(line)?.replace(/^you or an agent/, oneOf) ?? (isCommitted ? displayPath(details.get('author') ?? '') : NOBODY)}`,
        origin?.prompt !== undefined && `  prompt  ${showPath(origin.prompt)}`,
        origin?.call !== undefined && `  call    ${origin.tool ?? ''} ${origin.call}`.trimEnd(),
        origin !== undefined && `  step    ${shortOid(origin.snapshot)}, ${localTime(origin.time)}`,
        isCommitted && `  commit  ${shortOid(commit)} ${displayPath(details.get('summary') ?? '')}`,
        isCut && '          or an older one, which this shallow clone does not have',
      ]),
    );
    if (session !== undefined && step !== undefined) {
      await showStep(context, session, { steps, step }, path, args.open);
      return 0;
    }
    if (!isCommitted || isCut) return 0;
    context.out('\n');
    const show = ['show', '--format=', commit, '--', `:(top,literal)${displayPath(path)}`];
    return runGitOnTerminal(await context.git(), show);
  },
});

const NOBODY = 'you or another program, not committed';
const USAGE = ['why', 'agt why [REVISION] FILE:LINE'] as const;

/** In its object, although git blame went no further. */
async function hasParents(context: Context, commit: string): Promise<boolean> {
  const object = await readObject(await context.git(), commit);
  return object?.content.toString('latin1').split('\n\n')[0]?.includes('\nparent ') === true;
}

const NUMBER = /^[1-9]\d*$/;

function adviceOnText(place: string, cwd: string): string[] {
  const [, file, text = ''] = /^(.+?):(.*\D.*)$/s.exec(place) ?? [];
  if (file === undefined || !existsSync(resolve(cwd, file))) return [];
  return [`the numbers of lines: grep -nF -- ${shellQuote(text)} ${shellQuote(file)}`];
}

/** `FILE LINE` at the end is `FILE:LINE`. */
function withLine(words: readonly string[]): readonly string[] {
  const [file, line = ''] = words.slice(-2);
  return /^\d+$/.test(line) ? [...words.slice(0, -2), `${file}:${line}`] : words;
}

function placeOf(place: string, cwd: string) {
  const [, file = '', number = ''] = /^(.*?):(\d+)(?::\d+)?:?$/s.exec(place) ?? [];
  if (file !== '' && NUMBER.test(number)) return { file, number };
  throw usageError(
    `"${place}" names no line`,
    `usage: ${USAGE[1]}, where LINE is a number`,
    ...adviceOnText(place, cwd),
  );
}

/** The change of the step in the file, or all that its turn changed. */
async function showStep(
  context: Context,
  session: Session,
  { steps, step }: { readonly steps: readonly AuthoredStep[]; readonly step: AuthoredStep },
  path: string,
  whole: boolean,
) {
  context.out('\n');
  const { previous, commit } = step.snapshot;
  const since = steps.slice(steps.indexOf(step)).map(({ snapshot }) => snapshot.commit);
  const inTree = await nameAtFirst(session, since, `sandbox/${path}`);
  const old = previous === undefined ? inTree : await nameAtFirst(session, [previous, commit], inTree);
  const names = [...new Set([old, inTree])];
  if (!whole && previous !== undefined && names.every((name) => encodePath(name) === name)) {
    const pathspecs = names.map((name) => `:(top,literal)${displayPath(name)}`);
    await runGitOnTerminal(session.git, ['diff', '--relative=sandbox', previous, commit, '--', ...pathspecs]);
    return;
  }
  const pathspecs = () => (whole ? [] : names.map((name) => ({ magic: '', path: displayPath(name) })));
  const known = new Map(steps.map(({ snapshot }) => [snapshot.commit, snapshot]));
  const all = whole && step.turn && spansOf(step.turn);
  for (const span of all || [step.snapshot]) {
    const before = known.get(span.previous ?? '') ?? 'start';
    await showDiff(session, { before, after: span, pathspecs }, []);
  }
}

/** The name that the file had in the first of these snapshots, if it was renamed since. */
async function nameAtFirst({ git }: Session, commits: readonly string[], path: string): Promise<string> {
  const name = encodePath(path);
  const places = commits.map((commit) => `${commit}:${name}`);
  const found = await findObjects(git, places);
  const [first, there] = [commits[0], commits[found.findIndex((object) => object !== undefined)]];
  if (first === undefined || there === undefined || there === first) return path;
  const renames = await findRenames(withoutIndex(git), first, there, ['sandbox']);
  return decodePath(renames.find((rename) => rename.name === name)?.old ?? name);
}
