/** agt review on a terminal, in the manner of `git add -p`: a question for each hunk, and the marks after each file. */
import { displayPath } from '../disk/path-bytes.ts';
import { plural } from '../errors.ts';
import { FILE } from '../git/modes.ts';
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import { TAKEN_BACK, takeRejectedBack } from '../review/act.ts';
import {
  asOneChange,
  listHunks,
  markRejected,
  markSeen,
  type ReviewHunk,
  splitShown,
} from '../review/review.ts';
import type { Way } from '../review/state.ts';
import { readAgentState } from '../session/agent-state.ts';
import type { Session } from '../session/session.ts';
import type { Report } from './command-line/report.ts';
import type { Context } from './context.ts';
import { lines, paint, showPath } from './output/format.ts';

const HELP = lines([
  'y - I have seen this hunk',
  'n - not now: it stays new',
  'r - reject it; agt asks for your reason',
  'a - I have seen this hunk and all later ones in the file',
  'd - not now, and no later one in the file',
  's - split it into smaller hunks',
  'q - quit; what you have answered stays',
  '? - print help',
]);

interface Answers {
  readonly seen: string[];
  readonly rejected: { readonly id: string; readonly sentence: string }[];
}

type Ask = (question: string) => Promise<string | undefined>;

export async function reviewOnTerminal(
  context: Context,
  session: Session,
  hunks: readonly ReviewHunk[],
  way: Way,
): Promise<Report> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C ends the questions, as Ctrl-D does.
  terminal.on('SIGINT', () => terminal.close());
  let isOpen = true;
  terminal.on('close', () => {
    isOpen = false;
  });
  const given = terminal[Symbol.asyncIterator]();
  const ask: Ask = async (question) => {
    terminal.setPrompt(question);
    if (isOpen) terminal.prompt(); // there may be answers that were typed before
    const { done, value } = await given.next();
    return done === true ? undefined : value.trim();
  };
  const files = Map.groupBy(asOneChange(hunks), ({ path }) => path);
  const sum = { seen: 0, rejected: 0, missing: 0 };
  try {
    for (const own of files.values()) {
      const answers: Answers = { seen: [], rejected: [] };
      const goesOn = await askAboutFile(context, own, answers, ask);
      await markAnswers(session, answers, way, context.now(), sum);
      if (!goesOn) break;
    }
  } finally {
    terminal.close();
  }
  if (way === 'now') await takeRejectedBack(session, TAKEN_BACK, context.now());
  const all = asOneChange(await listHunks(session, { now: context.now(), withSeen: true }));
  const counts = (['seen', 'rejected', 'new'] as const).map(
    (state) => `${all.filter((hunk) => hunk.state === state).length} ${state}`,
  );
  const { seen, rejected, missing } = sum;
  const done = `${plural(seen, 'hunk')} marked as seen, ${rejected} rejected`;
  return {
    text: `${session.id}: ${done}; in all ${counts.join(', ')}\n`,
    notes: lines([
      all.some(({ state }) => state === 'seen') &&
        `hint: to land what you have seen: agt accept ${session.id} --seen`,
      rejected > 0 && way === 'end' && `hint: agt undoes the rejected hunks ${whenUndone(session)}`,
    ]),
    warnings: missing === 0 ? '' : `warning: ${plural(missing, 'hunk')} changed meanwhile, and stay new\n`,
  };
}

/** Hooks settle them at the end of a turn, and of the agent. */
export function whenUndone({ repository, id }: Session): string {
  const { state = 'done' } = readAgentState(repository.agtDir, id) ?? {};
  const end = ['works', 'waits'].includes(state)
    ? 'when the agent ends its turn'
    : 'when the agent ends its next turn or exits (by its hooks)';
  return `${end}, or now: agt review ${id} --now`;
}

/** False if the person quits. */
async function askAboutFile(context: Context, own: readonly ReviewHunk[], answers: Answers, ask: Ask) {
  const left = [...own];
  const askAgain = (hunk: ReviewHunk, text: string) => {
    context.err(text);
    left.unshift(hunk);
  };
  for (let hunk = left.shift(); hunk !== undefined; hunk = left.shift()) {
    const parts = splitShown(hunk);
    const letters = `y,n,r,a,d${parts.length > 1 ? ',s' : ''},q,?`;
    context.err(showHunk(context, hunk));
    const answer = (await ask(`Seen? [${letters}] `))?.toLowerCase();
    if (answer === 'y') answers.seen.push(hunk.id);
    else if (answer === 'a') answers.seen.push(...[hunk, ...left].map(({ id }) => id));
    else if (answer === 'r') {
      const sentence = await ask('Why? ');
      if (sentence) answers.rejected.push({ id: hunk.id, sentence });
      else askAgain(hunk, 'not rejected: give the reason, which the agent can read\n');
    } else if (answer === 's' && parts.length > 1) left.unshift(...parts);
    else if (answer === 's')
      askAgain(hunk, 'this hunk cannot be split: its changed lines are next to each other\n');
    else if (answer !== 'n' && answer !== 'd' && answer !== 'q' && answer !== undefined)
      askAgain(hunk, parts.length > 1 ? HELP : HELP.replace(/^s - .*\n/m, ''));
    if (answer === 'q' || answer === undefined) return false;
    if (answer === 'a' || answer === 'd') return true;
  }
  return true;
}

async function markAnswers(
  session: Session,
  { seen, rejected }: Answers,
  way: Way,
  now: Date,
  sum: { seen: number; rejected: number; missing: number },
) {
  for (const { id, sentence } of rejected) {
    const { marked, missing } = await markRejected(session, [id], { sentence, way }, now);
    sum.rejected += asOneChange(marked).length;
    sum.missing += missing.length;
  }
  if (seen.length === 0) return;
  const { marked, missing, waiting } = await markSeen(session, seen, now);
  sum.seen += asOneChange(marked.filter(({ path }) => !waiting.includes(path))).length;
  sum.missing += missing.length;
}

/** Control characters are the agent's, and must not reach the terminal. */
function showHunk(
  context: Context,
  { path, kind, lines: all, renamed: changed, oldStart, newStart, sentence, pieces, partner }: ReviewHunk,
) {
  const body = changed ?? all;
  const dye = paint(context.colour());
  const count = (sign: string) => body.filter((line) => line[0] === sign || line[0] === ' ').length;
  const range = (start: number, lines: number) => (lines === 1 ? `${start}` : `${start},${lines}`);
  const head =
    kind === 'lines'
      ? `@@ -${range(oldStart, count('-'))} +${range(newStart, count('+'))} @@`
      : changeOf(pieces[0]?.piece.file);
  const isSame = partner !== undefined && partner.file.before?.oid === pieces[0]?.piece.file.after?.oid;
  const shown = showPath(displayPath(path));
  if (isSame) return lines([dye('bold', `${showPath(displayPath(partner.file.path))} -> ${shown}  renamed`)]);
  const renamed = partner === undefined ? '' : `${showPath(displayPath(partner.file.path))} -> `;
  return lines([
    dye('bold', `${renamed}${shown}  ${partner === undefined ? head : 'renamed and changed'}`),
    sentence !== undefined && dye('yellow', `rejected before: ${sentence}`),
    ...body.map((line) => {
      const text = displayPath(line).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\u00b7');
      return line[0] === '+' ? dye('green', text) : line[0] === '-' ? dye('red', text) : text;
    }),
    kind === 'file' && body.length === 0 && 'binary, empty, a link or a submodule',
  ]);
}

function changeOf(file: Partial<Pick<DiffEntry, 'before' | 'after'>> | undefined): string {
  const [before, after] = [file?.before?.mode, file?.after?.mode];
  if (after === undefined) return 'deleted file';
  if (before === undefined) return after === FILE ? 'new file' : `new file, mode ${after}`;
  return before === after ? 'changed file' : `mode ${before} -> ${after}`;
}
