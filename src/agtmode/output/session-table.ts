/** The table of `agt list`: one line for each session, with everything that tells which of them needs a person. */
import { isEnded } from '../../session/state.ts';
import type { SessionStatus } from '../../survey/status.ts';
import type { Context } from '../context.ts';
import { type Paint, paint, shortAge, shortAgo } from './format.ts';
import { currentBranch, shownState } from './session.ts';

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
    views.some((view) => agentOf(view) !== '') && { heading: 'AGENT', cell: agentOf, dispensable: 2 },
    views.some(isOffItsBranch) && { heading: 'BRANCH', cell: currentBranch, dispensable: 3 },
    { heading: 'COMMITS', cell: commitsCell, alignRight: true },
    { heading: 'DIRTY', cell: dirtyCell, alignRight: true },
    ...more,
    { heading: 'DIFF', cell: diffText, alignRight: true, dispensable: 4 },
    { heading: 'BEHIND', cell: ({ behind }) => count(behind), alignRight: true, dispensable: 1 },
    { heading: 'MERGE', cell: mergeCell },
    { heading: 'AUTOCOMMIT', cell: (view) => shortAgo(view.lastAutocommit?.time, now), dispensable: 5 },
    { heading: 'AGE', cell: ({ record }) => shortAge(new Date(record.created_at), now), dispensable: 6 },
  ] satisfies (Column<SessionStatus> | false)[];
  const shown = all.filter((column) => column !== false);
  return columns<SessionStatus>(shown, views, { width: context.columns, paint: paint(context.colour) });
}

/** For commands that print a table. */
export function outOfSightNote(views: readonly SessionStatus[]): string {
  const ids = views.filter(({ isOutOfSight }) => isOutOfSight).map(({ record }) => record.session_id);
  if (ids.length === 0) return '';
  const reason =
    "this command runs at the user's own path, and agt cannot look into other sandboxes from here";
  return `note: ${reason}: ${ids.join(', ')}\n`;
}

/** The program that owns the session, else the profile that it was made with. */
function agentOf({ record: { owner, profile } }: SessionStatus): string {
  return owner?.command ?? profile ?? '';
}

function isOffItsBranch(view: SessionStatus): boolean {
  return view.sandboxPresent && view.record.work_branch !== `refs/heads/${view.head}`;
}

function stateCell(view: SessionStatus): Cell {
  const text = shownState(view);
  if (text === 'running') return { text, style: 'green' };
  if (text === 'active') return { text };
  return { text, style: isEnded(view.record) ? 'dim' : 'red' };
}

function count(n: number | undefined, sign = ''): string {
  return n === undefined ? '?' : n === 0 && sign === '' ? '' : `${sign}${n}`;
}

/** An ended session may have lost its work branch. */
function commitsCell({ ahead, headCommit }: SessionStatus): string {
  return headCommit === undefined && ahead === undefined ? '' : count(ahead, '+');
}

function dirtyCell({ dirty, sandboxPresent }: SessionStatus): Cell {
  if (!sandboxPresent) return { text: '' };
  return { text: count(dirty), style: 'yellow' };
}

function diffText({ diff }: SessionStatus): string {
  if (diff === undefined) return '';
  return diff.files === 0 ? '' : `+${diff.insertions} -${diff.deletions}`;
}

function mergeCell(view: SessionStatus): Cell {
  const words = mergeWords(view);
  return { text: words.join(', '), style: words.includes('conflict') ? 'red' : 'green' };
}

/** `clean, exported`: whether the user branch could take the work, and where the work is already. */
function mergeWords(view: SessionStatus): string[] {
  const { merge, merged, exported, headCommit, record } = view;
  if (record.state === 'accepted' || headCommit === undefined) return [];
  const isAccepted = record.landed !== undefined;
  if (merged && merge !== 'conflict') return [isAccepted ? 'accepted' : 'merged'];
  const isCurrent = exported || (record.exported !== undefined && record.exported.commit === headCommit);
  return [
    ...(merge === undefined ? [] : [merge]),
    ...(isAccepted ? ['accepted before'] : []),
    ...(isCurrent ? ['exported'] : record.exported === undefined ? [] : ['exported before']),
  ];
}

interface Cell {
  readonly text: string;
  readonly style?: Parameters<Paint>[0] | undefined;
}

interface Column<T> {
  readonly heading: string;
  readonly cell: (row: T) => Cell | string;
  /** A column with a higher number goes first if the terminal is too narrow; without one, it stays. */
  readonly dispensable?: number;
  readonly alignRight?: true;
}

const GAP = 2;
/** The first column is never narrower. */
const NARROWEST = 8;

/**
 * A table of cells with styles that fits the width of the terminal: it leaves out columns, then shortens the first one.
 * `width` is undefined if there is no terminal: then every column is shown.
 */
function columns<T>(
  all: readonly Column<T>[],
  rows: readonly T[],
  { width, paint }: { readonly width: number | undefined; readonly paint: Paint },
): string {
  let shown = all.map(({ heading, cell, ...column }) => {
    const own = rows.map(cell).map((each): Cell => (typeof each === 'string' ? { text: each } : each));
    const cells: Cell[] = [{ text: heading, style: 'dim' }, ...own];
    return { ...column, cells, width: Math.max(...cells.map(({ text }) => text.length)) };
  });
  const excess = () => shown.reduce((sum, column) => sum + column.width + GAP, -GAP) - (width ?? Infinity);
  while (excess() > 0) {
    const least = Math.max(...shown.map(({ dispensable = 0 }) => dispensable));
    if (least === 0) break;
    shown = shown.filter(({ dispensable }) => dispensable !== least);
  }
  const [first] = shown;
  if (first !== undefined && excess() > 0) {
    first.width = Math.max(NARROWEST, first.width - excess());
    first.cells = first.cells.map(({ text, style }) => ({ text: shorten(text, first.width), style }));
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
