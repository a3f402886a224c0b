/** A table of cells with styles that fits the width of the terminal: it leaves out columns, then shortens the first one. */
import type { Paint } from './format.ts';

export interface Cell {
  readonly text: string;
  readonly style?: Parameters<Paint>[0] | undefined;
}

export interface Column<T> {
  readonly heading: string;
  readonly cell: (row: T) => Cell | string;
  /** A column with a higher number goes first if the terminal is too narrow; without one, it stays. */
  readonly dispensable?: number;
  readonly alignRight?: true;
}

const GAP = 2;
/** The first column is never narrower. */
const NARROWEST = 8;

/** `width` is undefined if there is no terminal: then every column is shown. */
export function columns<T>(
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
