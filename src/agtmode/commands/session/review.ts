/** agt review: the hunks that nobody has seen yet, asked one by one, listed, or marked by their paths. */
import { displayPath } from '../../../disk/path-bytes.ts';
import { EXIT, listSome, plural, usageError } from '../../../errors.ts';
import { standingRejections, TAKEN_BACK, takeRejectedBack, whatWasRejected } from '../../../review/act.ts';
import {
  asOneChange,
  listHunks,
  type Marked,
  markNew,
  markRejected,
  markSeen,
  type ReviewHunk,
  refuseSubmodules,
  showNew,
} from '../../../review/review.ts';
import { forgetState, type Way } from '../../../review/state.ts';
import { withSessionLock } from '../../../session/lock.ts';
import { awayError } from '../../../session/operation.ts';
import type { Session } from '../../../session/session.ts';
import { readAuthors, turnNumbered } from '../../../timetravel/turns.ts';
import { type Arguments, defineSessionCommand, option } from '../../command-line/command.ts';
import type { Report } from '../../command-line/report.ts';
import type { Context } from '../../context.ts';
import { changeStatus, lines, orNull, showPath, verb } from '../../output/format.ts';
import {
  changedByFailed,
  inSandbox,
  isAt,
  isBelow,
  linesOf,
  nothingAt,
  placeIn,
} from '../../review-places.ts';
import { reviewOnTerminal, whenUndone } from '../../reviewing.ts';

const OPTIONS = {
  turn: option.value('only what this turn of an agent wrote: its number in agt log --turns'),
  seen: option.many(
    'mark all hunks of these files and directories as seen, or with :<line> the one at that line',
  ),
  all: option.flag('mark every hunk as seen, without a question'),
  reject: option.many('reject the hunks of a file, or with :<line> the one at that line; needs -m'),
  new: option.many('take back marks and rejections of these files, or with :<line> the one at that line'),
  message: option.value('why you reject them', 'm'),
  now: option.flag(
    'undo what --reject names at once, not when the agent ends its turn; alone: all that stands rejected without --tell',
  ),
  tell: option.flag('leave rejected hunks, and tell the agent with its next prompt'),
  reset: option.flag('forget all marks'),
  split: option.flag('as small as they get: unchanged lines between changed ones part a hunk'),
  hunk: option.many('only this hunk: its id in --json'),
  settle: { ...option.value('for hooks'), choices: ['turn', 'prompt'], hidden: true },
  ...option.shared('dry-run', 'json'),
} as const;

export const sessionReview = defineSessionCommand({
  name: 'session review',
  takesRest: 'paths',
  summary: 'look at what is new in a session since you last looked, and mark it as seen or rejected',
  description:
    'Show the hunks of a session that you have not seen yet, and ask about each, as git add -p does. They are the ' +
    'difference between what you have seen and what agt accept would land. Marks follow their lines: what the agent ' +
    'changes later is new again, a sync is not. agt accept --seen lands what was seen, and the rest stays in the ' +
    'session. Rejected hunks are taken back in the sandbox when the agent ends its turn, as agt undo --step does it; ' +
    'agt undo brings them back as new ones. Without a terminal, print the new hunks as a diff. Paths after -- choose files.',
  options: OPTIONS,
  examples: [
    ['agt review fix-login', 'go through the new hunks'],
    ['agt review fix-login --seen src docs/a.md', 'mark files as seen'],
    ['agt review fix-login --reject src/login.c:42 -m "keep the old name"', 'it goes at the end of the turn'],
    ['agt review --json | jq -r .[].path', 'list all hunks, those that were seen too'],
  ],
  check: (args) => {
    const acts = [args.seen, args.all, args.reject, args.new, args.reset].filter(Boolean);
    if (acts.length > 1)
      throw usageError('--seen, --all, --reject, --new and --reset exclude each other', 'give one');
    if (args.reject !== undefined && !args.message?.trim())
      throw usageError('--reject needs a reason', 'for example: -m "keep the old name"');
    const chooses = args.rest.length > 0 || args.hunk !== undefined || args.turn !== undefined;
    if (args.now && acts.length === 0 && chooses)
      throw usageError('--now alone undoes all rejected hunks', 'leave out what chooses some of them');
    if (args.now && args.tell) throw usageError('--now and --tell exclude each other', 'give one');
  },
  run: async (args, context, session) => {
    const { dryRun, json } = args;
    if (args.settle !== undefined) return settle(context, session, args.settle);
    // A pull joins these marks with those that are made there.
    if (session.record.away !== undefined) context.err(lines([`note: ${awayError(session.record).message}`]));
    if (args.reset) return reset(context, session, dryRun);
    const chosen = await chooseHunks(context, session, args);
    if (args.new !== undefined) return reportMarks(session, chosen.filter(isMarked), args, 'new');
    const open = chosen.filter(({ state }) => state === 'new');
    if (args.seen !== undefined || args.all) return reportMarks(session, open, args, 'seen');
    if (args.reject !== undefined) return reportMarks(session, open, args, 'rejected');
    if (args.now && (open.length === 0 || json || dryRun || !context.interactive))
      return reportTakenBack(context, session, chosen, args);
    const failed = listSome(await changedByFailed(session, context.now()));
    const out = `note: changes by failed calls stay out (${failed}), as of agt accept without --with-failed`;
    context.err(lines([failed !== '' && out]));
    if (json) return { json: chosen.map(hunkJson) };
    if (open.length === 0) return reportNothingNew(context, session, chosen);
    // `agt review | cat` prints.
    if (context.interactive && context.columns !== undefined && !dryRun)
      return reviewOnTerminal(context, session, open, wayOf(args));
    return showNew(session, idsOf(open), context.now());
  },
});

type ReviewArguments = Arguments<typeof OPTIONS>;

const isMarked = ({ state }: ReviewHunk) => state !== 'new';

const idsOf = (hunks: readonly ReviewHunk[]) => hunks.map(({ id }) => id);

async function chooseHunks(context: Context, session: Session, args: ReviewArguments) {
  const { seen = [], reject = [], new: marked = [], rest } = args;
  const places = [...seen, ...reject, ...marked].map((given) => placeIn(context, session, given));
  const turn =
    args.turn === undefined ? undefined : turnNumbered(session, await readAuthors(session), args.turn).number;
  const isPlain = places.length === 0 && !args.all;
  const hunks = await listHunks(session, {
    now: context.now(),
    withSeen: (args.json && isPlain && !args.now) || marked.length > 0,
    withTurns: args.json || turn !== undefined,
    isSplit: args.split || turn !== undefined,
  });
  const wanted = hunks.filter((hunk) => isMarked(hunk) === marked.length > 0);
  const none = places.find((place) => !wanted.some((hunk) => isAt(place, hunk)));
  if (none !== undefined) throw await nothingAt(session, none, wanted, args, context.now());
  const part = places.find((one) => wanted.some((hunk) => one.line && hunk.partner && isAt(one, hunk)));
  if (part !== undefined)
    throw usageError(`${part.given}: the file is renamed, and a rename is one change`, 'leave out the line');
  const under = rest.map((path) => inSandbox(context, session, path));
  return hunks
    .filter((hunk) => places.length === 0 || places.some((place) => isAt(place, hunk)))
    .filter(({ id }) => args.hunk === undefined || args.hunk.includes(id))
    .filter(({ path }) => under.length === 0 || isBelow(path, under))
    .filter(({ turns }) => turn === undefined || turns?.includes(turn));
}

function hunkJson({ id, path, state, kind, turns, lines, oldStart, newStart, sentence, pieces }: ReviewHunk) {
  const file = pieces[0]?.piece.file;
  return {
    id,
    path: displayPath(path),
    state,
    kind,
    status: changeStatus({ before: file?.before, after: file?.after }),
    ...orNull({ turns, sentence }),
    old_start: oldStart,
    new_start: newStart,
    lines: lines.map(displayPath),
  };
}

/** `commit`: of the restore that has taken rejected hunks back. */
function marksJson({ id }: Session, { marked, missing, waiting }: Marked, commit: string | undefined) {
  return {
    session_id: id,
    hunks: marked.map(hunkJson),
    missing,
    waiting: waiting.map(displayPath),
    taken_back: commit ?? null,
  };
}

const unmarked = (marked: readonly ReviewHunk[]): Marked => ({ marked, missing: [], waiting: [] });

async function reportMarks(
  session: Session,
  hunks: readonly ReviewHunk[],
  args: ReviewArguments,
  as: ReviewHunk['state'],
): Promise<Report> {
  const now = new Date();
  const { dryRun, message = '' } = args;
  if (as === 'rejected' && !args.tell) refuseSubmodules(hunks);
  const way = wayOf(args);
  const mark = (): Promise<Marked> => {
    if (as === 'new') return markNew(session, idsOf(hunks), now);
    if (as === 'seen') return markSeen(session, idsOf(hunks), now);
    return markRejected(session, idsOf(hunks), { sentence: message, way }, now);
  };
  const done = dryRun ? unmarked(hunks) : await mark();
  const isRejected = as === 'rejected' && !dryRun;
  const restored = isRejected && args.now ? await takeRejectedBack(session, ['now'], now) : undefined;
  const isTold = isRejected && (restored !== undefined || !args.now);
  const json = marksJson(session, done, restored?.commit);
  const marked = json.hunks.map((hunk) => ({ ...hunk, state: dryRun ? hunk.state : as }));
  return {
    json: { ...json, hunks: marked, dry_run: dryRun },
    text: `${session.id}: ${describeMarks(done, as, dryRun)}${isTold ? describeFate(session, done, way) : ''}\n`,
    warnings: warningsOf(done),
  };
}

async function reportTakenBack(
  context: Context,
  session: Session,
  hunks: readonly ReviewHunk[],
  { dryRun }: ReviewArguments,
): Promise<Report> {
  const going = await standingAmong(context, session, hunks);
  const restored = dryRun ? undefined : await takeRejectedBack(session, TAKEN_BACK, context.now());
  const changes = asOneChange(going);
  const files = listSome([...new Set(changes.map(({ path }) => displayPath(path)))]);
  const done = verb(dryRun, 'undid', 'undo');
  return {
    json: { ...marksJson(session, unmarked(going), restored?.commit), dry_run: dryRun },
    text:
      going.length === 0
        ? `${session.id}: no rejected hunk to undo; those with --tell stay\n`
        : `${session.id}: ${done} ${plural(changes.length, 'rejected hunk')} in the sandbox: ${files}\n`,
  };
}

async function reportNothingNew(context: Context, session: Session, hunks: readonly ReviewHunk[]) {
  const { length } = asOneChange(await standingAmong(context, session, hunks));
  const [stands, it, rejection] =
    length === 1 ? ['stands', 'it', 'rejection'] : ['stand', 'them', 'rejections'];
  const review = `agt review ${session.id}`;
  const rest = [
    `${plural(length, 'rejected hunk')} ${stands}`,
    `to undo ${it} in the sandbox: ${review} --now`,
    `to take the ${rejection} back: ${review} --new FILE`,
  ];
  return { text: `${session.id}: ${['nothing new', ...(length === 0 ? [] : rest)].join('; ')}\n` };
}

async function standingAmong(context: Context, session: Session, hunks: readonly ReviewHunk[]) {
  const rejections = await standingRejections(session, TAKEN_BACK, context.now());
  const standing = new Set(rejections.map(({ id }) => id));
  return hunks.filter(({ pieces }) => pieces.some(({ piece }) => standing.has(piece.id)));
}

function wayOf({ now, tell }: { readonly now: boolean; readonly tell: boolean }) {
  return now ? 'now' : tell ? 'tell' : 'end';
}

async function reset(context: Context, session: Session, dryRun: boolean): Promise<Report> {
  const hunks = dryRun ? await listHunks(session, { now: context.now(), withSeen: true }) : [];
  const marks = hunks.filter(isMarked);
  if (!dryRun) await withSessionLock(session, forgetState);
  return {
    json: { session_id: session.id, hunks: marks.map(hunkJson), dry_run: dryRun },
    text: `${session.id}: ${verb(dryRun, 'forgot', 'forget')} ${dryRun ? plural(asOneChange(marks).length, 'mark') : 'all marks'}\n`,
  };
}

/** At the end of a turn and before a prompt: standard output is for the model. */
async function settle(context: Context, session: Session, when: string): Promise<number> {
  if (when === 'turn') await takeRejectedBack(session, TAKEN_BACK, context.now());
  else context.out((await whatWasRejected(session, context.now())) ?? '');
  return EXIT.done;
}

function describeMarks({ marked }: Marked, as: ReviewHunk['state'], dryRun: boolean): string {
  const changes = asOneChange(marked);
  const files = new Set(changes.map(({ path }) => path)).size;
  const done = `${plural(changes.length, 'hunk')} in ${plural(files, 'file')}`;
  const isOneOfLines = changes.length === 1 && changes[0]?.kind === 'lines';
  const names = as === 'rejected' || isOneOfLines ? changes.map(nameOf) : [];
  const places = names.length > 0 ? ` (${listSome(names)})` : '';
  return as === 'rejected'
    ? `${verb(dryRun, 'rejected', 'reject')} ${done}${places}`
    : `${verb(dryRun, 'marked', 'mark')} ${done}${places} as ${as}`;
}

/** `f:3-5`, `all of new`; a file that is renamed, binary or has another mode by its path. */
function nameOf(hunk: ReviewHunk): string {
  const { kind, path, partner, pieces } = hunk;
  const name = showPath(displayPath(path));
  if (kind === 'lines') return `${name}:${linesOf(hunk).join('-')}`;
  const file = pieces[0]?.piece.file;
  return partner !== undefined || (file?.before && file.after) ? name : `all of ${name}`;
}

/** What becomes of hunks that were rejected in this session. */
function describeFate(session: Session, { marked }: Marked, way: Way): string {
  const { length } = asOneChange(marked);
  if (length === 0) return '';
  const [they, stay, go, them] =
    length === 1 ? ['it', 'stays', 'goes', 'it'] : ['they', 'stay', 'go', 'them'];
  if (way === 'now') return ` and undid ${them} in the sandbox`;
  if (way === 'tell') return `; the agent reads ${them} with your next prompt`;
  return `; ${they} ${stay} out of agt accept, and ${go} ${whenUndone(session)}`;
}

function warningsOf({ missing, waiting }: Pick<Marked, 'missing' | 'waiting'>): string {
  const paths = listSome(waiting.map(displayPath));
  return lines([
    missing.length > 0 && `warning: ${plural(missing.length, 'hunk')} changed meanwhile, and stay new`,
    waiting.length > 0 && `warning: not marked before the files whose place they take: ${paths}`,
  ]);
}
