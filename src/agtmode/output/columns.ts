/** A table of cells with styles that fits the width of the terminal: it leaves out columns, then shortens the first one. */
import { type Paint, shorten } from './format.ts';

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
  let shown = all.map((column) => render(column, rows));
  while (width !== undefined && totalWidth(shown) > width) {
    const least = Math.max(...shown.map(({ column }) => column.dispensable ?? 0));
    if (least === 0) break;
    shown = shown.filter(({ column }) => column.dispensable !== least);
  }
  const [first] = shown;
  const excess = width === undefined ? 0 : Math.max(0, totalWidth(shown) - width);
  if (first !== undefined && excess > 0) narrow(first, Math.max(NARROWEST, first.width - excess));
  const lines = [undefined, ...rows.keys()].map((row) => line(shown, row, paint));
  return lines.join('');
}

interface Rendered<T> {
  readonly column: Column<T>;
  cells: Cell[];
  width: number;
}

function render<T>(column: Column<T>, rows: readonly T[]): Rendered<T> {
  const cells = rows.map((row): Cell => {
    const cell = column.cell(row);
    return typeof cell === 'string' ? { text: cell } : cell;
  });
  const width = Math.max(column.heading.length, ...cells.map(({ text }) => text.length));
  return { column, cells, width };
}

function totalWidth(shown: readonly Rendered<never>[] | readonly Rendered<unknown>[]): number {
  return shown.reduce((sum, { width }) => sum + width + GAP, -GAP);
}

function narrow<T>(rendered: Rendered<T>, width: number): void {
  rendered.cells = rendered.cells.map(({ text, style }) => ({ text: shorten(text, width), style }));
  rendered.width = width;
}

function line<T>(shown: readonly Rendered<T>[], row: number | undefined, paint: Paint): string {
  const parts = shown.map(({ column, cells, width }) => {
    const { text, style } = row === undefined ? headingCell(column) : (cells[row] ?? { text: '' });
    const gap = ' '.repeat(Math.max(0, width - text.length));
    const painted = style === undefined || text === '' ? text : paint(style, text);
    return column.alignRight ? gap + painted : painted + gap;
  });
  return `${parts.join(' '.repeat(GAP)).trimEnd()}\n`;
}

function headingCell<T>({ heading }: Column<T>): Cell {
  return { text: heading, style: 'dim' };
}
