/** How agt mode formats what it prints: columns, times, sizes, paths, JSON, colours, and the words of JSON output. */
import { isAgtError, plural } from '../../errors.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import type { DiffEntry } from '../../git/objects/raw-diff.ts';

export { showPath } from '../../errors.ts';

/** Left-aligned columns, separated by two spaces; no trailing spaces. */
export function table(all: readonly Optional<readonly string[]>[], indent = ''): string {
  const rows = all.filter(isThere);
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  const padded = rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '));
  return lines(padded.map((line) => `${indent}${line}`.trimEnd()));
}

/** A list may leave it out: `isNew && 'new'`. */
type Optional<T> = T | undefined | false;

function isThere<T>(value: Optional<T>): value is T {
  return value !== undefined && value !== false;
}

export function lines(all: readonly Optional<string>[]): string {
  return all
    .filter(isThere)
    .map((line) => `${line}\n`)
    .join('');
}

/** JSON knows no undefined. */
export function orNull<T extends object>(values: T) {
  const entries = Object.entries(values).map(([name, value]) => [name, value ?? null]);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> | null };
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Why something failed, and what to do next; `error` is null if nothing has. */
export function errorJson(error: unknown) {
  if (error === undefined) return { error: null };
  const { hints = [], ways = undefined } = isAgtError(error) ? error : {};
  return { error: error instanceof Error ? error.message : String(error), hints, ...(ways && { ways }) };
}

/** `removed`; in a dry run, `would remove`. */
export function verb(isDryRun: boolean, past: string, plain: string): string {
  return isDryRun ? `would ${plain}` : past;
}

export function sentence(text: string): string {
  return `${capitalized(text)}.`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** `3 minutes ago`, as in git's relative dates. */
export function age(then: Date, now: Date): string {
  const seconds = Math.floor((now.getTime() - then.getTime()) / 1000);
  if (seconds < 0) return 'in the future';
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['second', 1];
  return `${plural(Math.floor(seconds / size), unit)} ago`;
}

/** `3m`, `2h`, `5d`: short enough for a column. */
export function shortAge(then: Date, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - then.getTime()) / 1000));
  const isShown = (unit: string, length: number) => unit !== 'month' && seconds >= length;
  const [unit, size] = UNITS.find(([name, length]) => isShown(name, length)) ?? ['second', 1];
  return `${Math.floor(seconds / size)}${unit.charAt(0)}`;
}

export function shortAgo(then: Date | undefined, now: Date): string {
  return then === undefined ? 'never' : `${shortAge(then, now)} ago`;
}

/** Each with as many of its last names as tell it from the others; `~` is home. */
export function shortPaths(all: readonly { place: string }[], home = ''): ReadonlyMap<string, string> {
  const names = [...new Set(all.map(({ place }) => place))].map((path) => {
    const inHome = home !== '' && path.startsWith(`${home}/`);
    return { path, parts: (inHome ? `~${path.slice(home.length)}` : path).split('/') };
  });
  const end = (parts: readonly string[], count: number) => parts.slice(-count).join('/');
  const short = names.map(({ path, parts }): [string, string] => {
    const isShared = (count: number) =>
      names.filter((other) => end(other.parts, count) === end(parts, count)).length > 1;
    let count = 1;
    while (count < parts.length && isShared(count)) count++;
    return [path, end(parts, count)];
  });
  return new Map(short);
}

const SGR_CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;

export type Paint = (style: keyof typeof SGR_CODES, text: string) => string;

export function paint(colour: boolean): Paint {
  return (style, text) => (colour ? `\u001b[${SGR_CODES[style]}m${text}\u001b[m` : text);
}

/** Every JSON output describes a file by these words. docs/guide/json.md explains them, and a test compares. */
export const FILE_STATUS = {
  A: 'added',
  added: 'added',
  M: 'modified',
  changed: 'modified',
  mode: 'mode',
  D: 'deleted',
  deleted: 'deleted',
  '!': 'blocked',
} as const;

/** The fate of a file in a list for a person. */
export const LETTERS = { added: 'A', modified: 'M', mode: 'M', deleted: 'D', blocked: '!' } as const;

/** The fate of a file that a commit or snapshot changes. */
export function changeStatus({ before, after }: Pick<DiffEntry, 'before' | 'after'>) {
  return FILE_STATUS[before === undefined ? 'A' : after === undefined ? 'D' : 'M'];
}

/** `(Edit)`, `(failed Bash: npm test)`. */
export function toolNote(
  work: { readonly [name in 'before' | 'tool' | 'outcome' | 'summary']: string | null },
) {
  const { before, tool, outcome, summary } = work;
  if (before !== null) return `(before ${before})`;
  if (tool === null) return '';
  return `(${outcome === 'failed' ? 'failed ' : ''}${tool}${summary === null ? '' : `: ${summary}`})`;
}

/** `(restored 77f2baea30)`, `(undo to 77f2baea30)`. */
export function restoreNote(to: string, by: string | null | undefined) {
  return `(${by === 'undo' || by === 'redo' ? `${by} to` : 'restored'} ${shortOid(to)})`;
}
