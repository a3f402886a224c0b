/** The table of `agt list`: one line for each session, with everything that tells which of them needs a person. */
import { isActive } from '../../filter/session-file.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { placeOfAway } from '../../session/operation.ts';
import type { Landed } from '../../session/record.ts';
import { isEnded } from '../../session/state.ts';
import type { SessionStatus } from '../../survey/status.ts';
import type { Context } from '../context.ts';
import { type Paint, paint, shortAge, shortAgo, showPath } from './format.ts';
import { currentBranch, landedPlace, shownState } from './session.ts';

/** `more` are columns of a command that wants them beside the usual ones. */
export function sessionTable(
  context: Context,
  views: readonly SessionStatus[],
  more: readonly Column<SessionStatus>[] = [],
): string {
  const now = context.now();
  const all = [
    { heading: 'ID', cell: ({ record }) => record.session_id },
    { heading: 'STATE', cell: stateCell },
    views.some(({ agentState }) => agentState !== undefined) && { heading: 'NOW', cell: nowCell(now) },
    views.some((view) => agentOf(view) !== '') && { heading: 'AGENT', cell: agentOf, dispensable: 1 },
    views.some(isOffItsBranch) && { heading: 'BRANCH', cell: branchCell },
    ...WORK.slice(0, 2),
    ...more,
    ...WORK.slice(2),
    { heading: 'AUTOCOMMIT', cell: (view) => shortAgo(view.lastAutocommit?.time, now), dispensable: 4 },
    { heading: 'AGE', cell: ({ record }) => shortAge(new Date(record.created_at), now), dispensable: 5 },
    views.some(({ record }) => isEnded(record)) && {
      heading: 'ENDED',
      cell: endedCell(now),
      flexible: true,
    },
    views.some((view) => reasonCell(view) !== '') && { heading: 'REASON', cell: reasonCell, flexible: true },
  ] satisfies (Column<SessionStatus> | false)[];
  const shown = all.filter((column) => column !== false);
  return columns<SessionStatus>(shown, views, { width: context.columns, paint: paint(context.colour()) });
}

/** For commands that print a table. */
export function outOfSightNote(views: readonly SessionStatus[]): string {
  const ids = views.filter(({ isOutOfSight }) => isOutOfSight).map(({ record }) => record.session_id);
  if (ids.length === 0) return '';
  const reason =
    "this command runs at the user's own path, and agt cannot look into other sandboxes from here";
  return `note: ${reason}: ${ids.join(', ')}\n`;
}

/** `agt status` has it among the problems. */
export function movedNote(views: readonly SessionStatus[]): string {
  const ids = views.filter(({ hasMoved }) => hasMoved).map(({ record }) => record.session_id);
  return ids.length === 0
    ? ''
    : `note: to connect what has moved again (${ids.join(', ')}): agt doctor --fix\n`;
}

/** NOW, and the columns of the work, for one session. */
export function rowsOfNow(view: SessionStatus, now: Date): string[][] {
  const { agentState, sandboxPresent } = view;
  const state = agentState && [nowCell(now)(view).text, showPath(agentState.for ?? '')].join(' ').trimEnd();
  const work = WORK.map(({ heading, cell }) => [heading.toLowerCase(), asCell(cell(view)).text] as const);
  return [['now', state ?? ''] as const, ...work].flatMap(([name, text]) =>
    text === '' && (name === 'now' || !sandboxPresent) ? [] : [[name, text || NOTHING]],
  );
}

/** The agent that worked there last, else the last program that ran. */
const agentOf = ({ record }: SessionStatus) => record.agent ?? '';

function isOffItsBranch(view: SessionStatus): boolean {
  return view.sandboxPresent && view.record.work_branch !== `refs/heads/${view.head}`;
}

function branchCell(view: SessionStatus): string {
  return isOffItsBranch(view) ? currentBranch(view) : '';
}

function stateCell(view: SessionStatus): Cell {
  const state = shownState(view);
  const text = view.record.working_copy === 'in-place' ? `${state}, in place` : state;
  if (state === 'running') return { text, style: 'green' };
  if (state === 'active') return { text };
  if (state === 'running alone') return { text, style: 'yellow' };
  return { text, style: isEnded(view.record) ? 'dim' : 'red' };
}

/** `waits 3m`: for a person, so long. */
function nowCell(now: Date) {
  return ({ agentState }: SessionStatus): Cell => {
    if (agentState === undefined) return { text: '' };
    const { state, since } = agentState;
    const style = ({ waits: 'yellow', works: 'green', failed: 'red', done: undefined } as const)[state];
    return { text: `${state} ${shortAge(new Date(since), now)}`, style };
  };
}

function count(n: number | undefined, sign = ''): string {
  return n === undefined ? '?' : n === 0 && sign === '' ? '' : `${sign}${n}`;
}

/** An ended session may have lost its work branch. */
function commitsCell({ ahead, headCommit }: SessionStatus): string {
  return headCommit === undefined && ahead === undefined ? '' : count(ahead, '+');
}

function behindText({ behind, record }: SessionStatus): string {
  return isEnded(record) ? '' : count(behind);
}

/** agt cannot look into its sandbox. */
function isUnknown({ record, sandboxPresent }: SessionStatus): boolean {
  return isActive(record) && !sandboxPresent;
}

function dirtyCell(view: SessionStatus): Cell {
  if (isUnknown(view)) return { text: '?', style: 'yellow' };
  return { text: view.dirty ? count(view.dirty) : '', style: 'yellow' };
}

function diffText(view: SessionStatus): string {
  if (isUnknown(view)) return '?';
  const { diff, ahead, headCommit } = view;
  if (diff === undefined) return ahead === undefined && headCommit !== undefined ? '?' : '';
  if (diff.files === 0) return '';
  return `+${diff.insertions}${diff.in_part ? '+' : ''} -${diff.deletions}`;
}

function mergeCell(view: SessionStatus): Cell {
  const words = isUnknown(view) && !view.merged ? ['?'] : mergeWords(view);
  return { text: words.join(', '), style: /conflict|refuses/.test(words[0] ?? '') ? 'red' : 'green' };
}

/** `agt status` has columns of its own after the first two. */
const WORK: readonly Column<SessionStatus>[] = [
  { heading: 'COMMITS', cell: commitsCell, alignRight: true },
  { heading: 'DIRTY', cell: dirtyCell, alignRight: true },
  { heading: 'DIFF', cell: diffText, alignRight: true, dispensable: 3 },
  { heading: 'BEHIND', cell: behindText, alignRight: true, dispensable: 2 },
  { heading: 'MERGE', cell: mergeCell },
];

/** `clean, exported`: whether the user branch could take the work, and where the work is already. */
function mergeWords(view: SessionStatus): string[] {
  const { merge, merged, mergedOn, isLanded, headCommit, record } = view;
  if (record.state === 'accepted' || headCommit === undefined) return [];
  if (record.away !== undefined && !merged) return [];
  const { landed, user_branch: home } = record;
  const done = mergedOn === undefined ? 'merged' : `merged on ${mergedOn}`;
  const onto = view.fate.renamedTo ?? landed?.onto;
  const where = onto === undefined || onto === home ? '' : ` on ${shortBranch(onto)}`;
  if (merged && (merge ?? 'clean') === 'clean')
    return where !== '' && !isLanded
      ? [done, `accepted before${where}`]
      : [landed && !mergedOn ? `accepted${where}` : done];
  const word = merge === 'refused' ? 'accept refuses' : merge;
  return [
    ...(word === undefined ? [] : [where === '' ? word : `${word} for ${shortBranch(home ?? '')}`]),
    ...(landed ? [`${pastOf(landed, view)}${where}`] : []),
    ...(view.exported ? ['exported'] : record.exported === undefined ? [] : ['exported before']),
  ];
}

/** Of the newest acceptance, if the session has more than the branch. */
function pastOf({ in_part: inPart }: Landed, { fate }: SessionStatus): string {
  const { revertedBy, isRevertedInPart, isLost, isElsewhere } = fate;
  if (isElsewhere) return 'accepted elsewhere';
  if (revertedBy !== undefined) return isRevertedInPart ? 'reverted in part' : 'reverted since';
  return isLost ? 'dropped since' : inPart ? 'accepted in part' : 'accepted before';
}

/** `3h ago as 9b6a52d7ab on main`: when, and by which commit. */
function endedCell(now: Date) {
  return ({ record, fate }: SessionStatus): string => {
    const { state, state_at: at, landed } = record;
    if (!isEnded(record)) return '';
    const when = at === undefined ? [] : [shortAgo(new Date(at), now)];
    const place = landed && landedPlace(landed, fate);
    if (place === undefined) return when.join('');
    const part = landed?.in_part ? 'in part ' : '';
    return [...when, `${part}as ${place}`].join(state === 'accepted' ? ' ' : ', after it landed ');
  };
}

/** Why an agent waits, why the session failed or ended, or where it is. */
function reasonCell({ record, agentState }: SessionStatus): string {
  if (record.state === 'away') return showPath(placeOfAway(record.away));
  const waits = agentState?.state === 'waits' ? agentState.for : undefined;
  return showPath(waits ?? record.state_reason ?? '');
}

interface Cell {
  readonly text: string;
  readonly style?: Parameters<Paint>[0] | undefined;
}

export interface Column<T> {
  readonly heading: string;
  readonly cell: (row: T) => Cell | string;
  /** A column with a higher number goes first if the terminal is too narrow; without one, it stays. */
  readonly dispensable?: number;
  readonly alignRight?: true;
  /** It is shortened if the terminal is too narrow. */
  readonly flexible?: true;
}

function asCell(cell: Cell | string): Cell {
  return typeof cell === 'string' ? { text: cell } : cell;
}

const NOTHING = '-';
const GAP = 2;
/** The column that is shortened is never narrower; before it is narrower than the second, other columns go. */
const NARROWEST = 8;
const COMFORTABLE = 24;

/**
 * A table of cells with styles that fits the width of the terminal: it leaves out columns, empty ones first, then shortens
 * some. An empty cell is `-`. `width` is undefined if there is no terminal: then every column is shown.
 */
export function columns<T>(
  all: readonly Column<T>[],
  rows: readonly T[],
  { width, paint }: { readonly width: number | undefined; readonly paint: Paint },
): string {
  let shown = all.map(({ heading, cell, ...column }) => {
    const filled = rows
      .map(cell)
      .map(asCell)
      .map((one): Cell => (one.text === '' ? { text: NOTHING, style: 'dim' } : one));
    const cells: Cell[] = [{ text: heading, style: 'dim' }, ...filled];
    const isEmpty = filled.every(({ text }) => text === NOTHING);
    return { ...column, cells, isEmpty, width: Math.max(...cells.map(({ text }) => text.length)) };
  });
  const excess = (widest = Infinity) =>
    shown.reduce((sum, one) => sum + (one.flexible ? Math.min(one.width, widest) : one.width) + GAP, -GAP) -
    (width ?? Infinity);
  if (excess() > 0) shown = shown.filter(({ isEmpty }) => !isEmpty);
  while (excess(COMFORTABLE) > 0) {
    const least = Math.max(...shown.map(({ dispensable = 0 }) => dispensable));
    if (least === 0) break;
    shown = shown.filter(({ dispensable }) => dispensable !== least);
  }
  for (const last of shown.filter(({ flexible }) => flexible).reverse()) {
    if (excess() <= 0) break;
    last.width = Math.min(last.width, Math.max(NARROWEST, last.width - excess()));
    last.cells = last.cells.map(({ text, style }) => ({ text: shorten(text, last.width), style }));
  }
  const lines = [undefined, ...rows].map((_, i) => {
    const parts = shown.map(({ cells, width: wide, alignRight }) => {
      const { text = '', style } = cells[i] ?? {};
      const gap = ' '.repeat(Math.max(0, wide - text.length));
      const painted = style === undefined || text === '' ? text : paint(style, text);
      return alignRight ? gap + painted : painted + gap;
    });
    return `${parts.join(' '.repeat(GAP)).trimEnd()}\n`;
  });
  return lines.join('');
}

/** `fix-long…`: at most `width` characters. */
function shorten(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
