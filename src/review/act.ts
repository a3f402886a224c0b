/**
 * Acts on marks: what was seen lands, and rejected hunks do not. They go back in the sandbox by the merge of
 * `agt undo --step`, or are told.
 */
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, listSome, plural } from '../errors.ts';
import { LINK, SUBMODULE } from '../git/modes.ts';
import { type DiffEntry, diffTrees, editsOf, entryOf } from '../git/objects/raw-diff.ts';
import { readIndex } from '../git/objects/scratch-index.ts';
import { fieldsOf, gitBytes, gitText, runGit } from '../git/run/git.ts';
import { acceptSession } from '../landing/accept.ts';
import type { AcceptRequest, AcceptResult } from '../landing/accept-request.ts';
import { nothingSeen } from '../landing/landing-errors.ts';
import { type Workbench, withWorkbench } from '../landing/workbench.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { unfinishedError } from '../session/operation.ts';
import type { Session } from '../session/session.ts';
import { REJECTED } from '../snapshot/format.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { type RestoreResult, restoreSession } from '../timetravel/restore/restore.ts';
import { planTakeBack, snapshotWith } from '../timetravel/restore/take-back.ts';
import { readAuthors } from '../timetravel/turns.ts';
import { autocommit } from '../triggers/autocommit.ts';
import { readHunks, readUnderOldNames } from './hunks.ts';
import { findRejected, type RejectedHunk } from './rejected.ts';
import { change, type Review, withReview } from './review.ts';
import { moveTo, type Rejection, type ReviewState, readStarts, readState, type Way } from './state.ts';
import { turnsOfHunks } from './turns-of-hunks.ts';

/** The session goes on with the rest. @throws AgtError if nothing was seen that has not landed yet. */
export function acceptSeen(session: Session, request: AcceptRequest): Promise<AcceptResult> {
  const chooseTree: AcceptRequest['chooseTree'] = async (bench, content, merge) => {
    const starts = await readStarts(session, bench, content, merge);
    const { there: from } = starts;
    const known = await readState(session);
    const state = known && (await moveTo(bench, known, starts));
    if (state !== undefined && state.seen !== from) {
      await refuseGone(session, bench, { from, seen: state.seen, now: content.tree });
      const { turns } = await readAuthors(session);
      const own = await turnsBetween(session, bench, from, state.seen);
      const open = await turnsBetween(session, bench, state.seen, content.tree);
      const prompts = turns.flatMap(({ number, prompt }) => (own.has(number) ? (prompt ?? []) : []));
      return { tree: state.seen, prompts: [...new Set(prompts)], isPart: !own.isDisjointFrom(open) };
    }
    throw nothingSeen(session.record);
  };
  return acceptSession(session, { ...request, keep: true, chooseTree });
}

/** New files that were seen, and that the agent has deleted since: nobody has said whether they are still wanted. */
async function refuseGone(
  { id }: Session,
  { git }: Workbench,
  { from, seen, now }: Record<'from' | 'seen' | 'now', string>,
) {
  const changes = (to: string, begin: string) => diffTrees(git, begin, to, { countLines: false });
  const added = new Set((await changes(seen, from)).flatMap(({ path, before }) => (before ? [] : path)));
  const gone = (await changes(now, seen)).filter(({ path, after }) => added.has(path) && !after);
  if (gone.length === 0) return;
  const paths = gone.map(({ path }) => displayPath(path));
  throw new AgtError(`deleted in session "${id}" since it was seen: ${listSome(paths)}`, {
    hints: [`look at that first: agt review ${id} -- ${paths.map(shellQuote).join(' ')}`],
  });
}

async function turnsBetween(session: Session, bench: Workbench, from: string, to: string) {
  const git = { ...session.sandboxGit, env: { ...session.sandboxGit.env, ...bench.objects } };
  return new Set((await turnsOfHunks(session, bench, await readHunks(git, from, to))).flat());
}

const standingOf = ({ rejected }: ReviewState, ways: readonly Way[]) =>
  rejected.filter(({ state, way }) => state !== 'gone' && ways.includes(way));

/** Rejected lines do not land, and stay in the sandbox. @throws AgtError if commits that land as they are have them. */
export function acceptUnrejected(session: Session, request: AcceptRequest): Promise<AcceptResult> {
  return acceptSession(session, {
    ...request,
    withoutRejected: async (one, bench, content) => {
      const { tree, rejected } = await findRejected(one, bench, content);
      if (request.keepCommits && rejected.length > 0) {
        const committed = await findRejected(one, bench, { ...content, tree: content.head });
        // Uncommitted work of the sandbox takes back what is gone there.
        const landing = committed.rejected.filter(({ isGone }) => !isGone);
        refuseRejected(one, landing, '--keep-commits');
      }
      const stay = rejected.length === 1 ? 'stays' : 'stay';
      const warning = `${plural(rejected.length, 'rejected hunk')} ${stay} out: ${listSome(pathsOf(rejected))}`;
      const writers = (from: string, to: string) => turnsBetween(one, bench, from, to);
      const warnings = rejected.length === 0 ? [] : [warning];
      return { tree, rejected: rejected.length, warnings, turnsBetween: writers };
    },
    refuseRejected: async (one, bench, { from, ...content }) => {
      const { rejected } = await findRejected(one, bench, content);
      if (rejected.length === 0) return;
      const before = await findRejected(one, bench, { ...content, tree: from });
      const there = new Set(before.rejected.flatMap(({ ids }) => ids));
      const landing = rejected.filter(({ ids }) => ids.some((id) => !there.has(id)));
      refuseRejected(one, landing, '--commits');
    },
  });
}

/** A warning if these commits of the session have rejected lines. `commit`: the last of them. */
export function warnOfRejected(session: Session, commit: string): Promise<string> {
  const { repository, id, record } = session;
  const place = { ref: record.user_branch ?? record.work_branch, dryRun: true };
  return withWorkbench(repository, place, async (bench) => {
    const { rejected } = await findRejected(session, bench, { head: commit, tree: commit });
    if (rejected.length === 0) return '';
    const found = `${plural(rejected.length, 'rejected hunk')}: ${listSome(pathsOf(rejected))}`;
    const there = rejected.filter(({ isGone }) => !isGone);
    const out = there.every(({ isTold }) => isTold) ? 'take them out' : `undo them (agt review ${id} --now)`;
    const undo = there.length === 0 ? '' : ` ${out},`;
    const way = `to keep rejected lines out:${undo} commit in the sandbox, and export again`;
    return `warning: the commits have ${found}; ${way}\n`;
  });
}

/** Those that the agent does not just hear of. */
export const TAKEN_BACK: readonly Way[] = ['now', 'end'];

const pathsOf = (hunks: readonly RejectedHunk[]) => [...new Set(hunks.map(({ path }) => displayPath(path)))];

function refuseRejected({ id }: Session, hunks: readonly RejectedHunk[], option: string): void {
  if (hunks.length === 0) return;
  const standing = pathsOf(hunks.filter(({ isGone }) => !isGone)).map(shellQuote);
  const back = [
    standing.length > 0 && `take the rejection back: agt review ${id} --new ${standing.join(' ')}`,
    hunks.some(({ isGone }) => isGone) && `forget all marks: agt review ${id} --reset`,
  ];
  const problem = `${plural(hunks.length, 'rejected hunk')}: ${listSome(pathsOf(hunks))}`;
  throw new AgtError(`the commits that land have ${problem}; nothing has changed`, {
    hints: [
      `land the work without the rejected lines: leave out ${option}`,
      ...back.flatMap((way) => (way ? `or ${way}` : [])),
    ],
  });
}

export async function standingRejections(
  session: Session,
  ways: readonly Way[],
  now: Date,
): Promise<Rejection[]> {
  const known = await readState(session);
  if (known === undefined || standingOf(known, ways).length === 0) return [];
  return withReview(session, { writes: false, now }, async ({ state }) => standingOf(state, ways));
}

/** Undefined if there is none. @throws AgtError if a file is not as git stores it; then nothing has changed. */
export async function takeRejectedBack(
  session: Session,
  ways: readonly Way[],
  now: Date,
): Promise<RestoreResult | undefined> {
  const known = await readState(session);
  if (known === undefined || standingOf(known, ways).length === 0) return undefined;
  const { intent } = session.record;
  if (intent !== undefined) throw unfinishedError(session.id, intent.operation);
  await autocommit(session, { now });
  const [tip] = await session.history();
  if (tip === undefined) return undefined;
  const found = await change(session, now, async (review) => {
    const span = await spanOf(session, review, tip, ways);
    const sentences = standingOf(review.state, ways).map(({ sentence }) => sentence);
    return { state: review.state, result: span && { ...span, sentences } };
  });
  if (found === undefined) return undefined;
  const request = {
    spans: [found.span],
    paths: undefined,
    onConflict: 'refuse',
    name: 'the rejected hunks',
  } as const;
  const { wanted, paths, conflicts } = await planTakeBack(session, tip, request);
  if (conflicts.length > 0)
    throw new AgtError(`cannot take rejected hunks back in ${conflicts.map(displayPath).join(', ')}`, {
      hints: ['the files are not as git stores them; change them by hand'],
    });
  if (wanted === undefined) return undefined;
  const choose = async () => {
    if ((await session.history())[0]?.commit === tip.commit) return wanted;
    throw new AgtError(`"${session.id}" has changed meanwhile`, {
      hints: ['the rejected hunks are not taken back yet; try again'],
    });
  };
  const label = `${REJECTED}${[...new Set(found.sentences)].join('; ')}`;
  const common = { by: 'restore', filesOnly: true, label } as const;
  // The agent would commit what is staged.
  const staged = await readIndex(session.sandboxGit);
  const listing = ['diff-index', '--cached', '--name-only', '-z', 'HEAD', '--'];
  const added = new Set(fieldsOf((await runGit(session.sandboxGit, listing)).stdout));
  const unstaged = found.changes.filter(
    ({ path, before }) => added.has(path) && staged.get(path) === entryOf(before),
  );
  const index = editsOf(unstaged, 'after');
  const restored = await restoreSession(session, { ...common, scope: paths, index, now, choose });
  await change(session, now, async ({ state }) => ({ state, result: undefined }));
  return restored;
}

/** A snapshot that changes nothing but the rejected hunks: its files are as on disk. */
async function spanOf(session: Session, review: Review, tip: Snapshot, ways: readonly Way[]) {
  const { state, work, open, index, git, bench } = review;
  const rejected = standingOf(state, ways);
  const ids = new Set(rejected.map(({ id }) => id));
  const marks = { seen: state.seen, tree: work, rejected, hunks: open };
  const { without } = await readUnderOldNames(git, index, marks);
  const changes = await diffTrees(bench.git, work, await without(ids));
  if (changes.length === 0) return undefined;
  const side = async (when: 'before' | 'after') => {
    const files = await Array.fromAsync(changes, async (file): Promise<[string, DiffEntry['before']]> => {
      return [`sandbox/${file.path}`, await onDisk(review, file, file[when])];
    });
    return snapshotWith(session.git, bench, tip, new Map(files));
  };
  const { commit } = await side('before');
  return { span: { ...tip, commit, previous: (await side('after')).commit }, changes };
}

/** As git writes the file into the sandbox. */
async function onDisk({ git, bench }: Review, { path }: DiffEntry, version: DiffEntry['before']) {
  if (version === undefined || version.mode === LINK) return version;
  if (version.mode === SUBMODULE) return undefined; // no file of a snapshot
  const input = await gitBytes(git, ['cat-file', '--filters', `--path=${displayPath(path)}`, version.oid]);
  return { ...version, oid: await gitText(bench.git, ['hash-object', '-w', '--stdin'], { input }) };
}

/** For the agent's next prompt; undefined if there is nothing to tell. */
export async function whatWasRejected(session: Session, now: Date): Promise<string | undefined> {
  const known = await readState(session);
  const toTell = ({ rejected }: ReviewState) =>
    rejected.filter(({ state, way }) => state === 'pending' && way === 'tell');
  if (known === undefined || toTell(known).length === 0) return undefined;
  return change(session, now, async ({ state }) => {
    const told = toTell(state);
    const parts = told.map(({ path, line, lines, sentence }) => {
      const shown = lines.slice(0, MOST_LINES).map(displayPath).join('\n');
      const more = lines.length - MOST_LINES;
      const rest = more > 0 ? `\n(and ${plural(more, 'more line')} of it)` : '';
      return `${displayPath(path)}, line ${line}: ${sentence}\n${shown}${rest}`;
    });
    const rejected = state.rejected.map((one) =>
      told.includes(one) ? { ...one, state: 'told' as const } : one,
    );
    const result =
      told.length === 0
        ? undefined
        : `The user has reviewed your changes and rejects these:\n\n${parts.join('\n\n')}`;
    return { state: { ...state, rejected }, result };
  });
}

/** So many lines of a hunk stand in the context. */
const MOST_LINES = 20;
