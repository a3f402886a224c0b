/** Options and output that lists of snapshots, turns and changes have in common. */
import { showSize } from '../../config/values.ts';
import { usageError } from '../../errors.ts';
import type { Git } from '../../git/run/git.ts';
import { parseTime } from '../../snapshot/resolve-snapshot.ts';
import type { FileChange } from '../../timetravel/timeline.ts';
import type { Context } from '../context.ts';
import { FILE_STATUS, LETTERS, orNull, paint, showPath, table } from './format.ts';
import { type Column, columns } from './session-table.ts';

type ListedFile = ReturnType<typeof filesJson>[number];

export function filesJson(files: readonly FileChange[], shown: (path: string) => string) {
  return files.map(({ path, old, kind, size, insertions, removals: deletions }) => ({
    path: shown(path),
    ...(old !== undefined && { old: shown(old) }),
    status: FILE_STATUS[kind],
    size,
    ...orNull({ insertions, deletions }),
  }));
}

/** One line for each file, below the row that changed them. */
export function fileLines(entry: { readonly files: readonly ListedFile[] } | undefined): string {
  const rows = (entry?.files ?? []).map(({ path, old, status, insertions, deletions, size }) => [
    old === undefined ? LETTERS[status] : 'R',
    insertions === null ? `binary, ${showSize(size)}` : `+${insertions} -${deletions}`,
    (old === undefined ? '' : `${showPath(old)} -> `) + showPath(path),
  ]);
  return table(rows, '    ');
}

/** Without a number, all. */
export function parseNumber(text: string | undefined, what = 'snapshots'): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (!/^\d+$/.test(text)) throw usageError(`invalid number of ${what} "${text}"`);
  return Number(text);
}

/** It names a time of day, or a distance from now. For git a day alone is that day at the present time. */
const HAS_TIME =
  /:|\d[ T]\d{1,2}$|\d[ap]m\b|^@?\d+$|\b(now|noon|midnight|tea|never|ago|(second|minute|hour|day|week|month|year)s?)\b/i;

/** `ofDay`: the time of a day alone. */
export async function parseSince(git: Git, text: string | undefined, now: Date, ofDay = '00:00') {
  if (text === undefined) return undefined;
  const time = await parseTime(git, HAS_TIME.test(text) ? text : `${text} ${ofDay}`, now);
  if (time !== undefined) return time;
  throw usageError(`invalid time "${text}"`, 'for example: "2 hours ago", "2026-11-20 14:00"');
}

/** A table; with files, below each row the files that changed there. */
export function tableOfChanges<T extends { readonly files: readonly ListedFile[] }>(
  context: Context,
  cells: readonly Column<T>[],
  rows: readonly T[],
  withFiles: boolean,
): string {
  const text = columns<T>(cells, rows, { width: context.columns, paint: paint(context.colour()) });
  const [heading = '', ...lines] = text.split(/(?<=\n)/);
  return heading + lines.map((line, i) => line + (withFiles ? fileLines(rows[i]) : '')).join('');
}
