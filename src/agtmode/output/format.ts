/** How agt mode prints: aligned columns, ages, counts, JSON, and colour only where it is welcome. */

/** Left-aligned columns, two blanks between, nothing after the last. */
export function table(rows: readonly (readonly string[])[], indent = ''): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return rows
    .map(
      (row) =>
        `${indent}${row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i] ?? 0) : cell)).join('  ')}`,
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function plural(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
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

/** `3 minutes ago`, as git's relative dates read. */
export function age(then: Date, now: Date): string {
  const seconds = Math.floor((now.getTime() - then.getTime()) / 1000);
  if (seconds < 0) return 'in the future';
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ['second', 1];
  return `${plural(Math.floor(seconds / size), unit)} ago`;
}

export type Paint = (style: keyof typeof CODES, text: string) => string;

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;

export function paint(colour: boolean): Paint {
  return (style, text) => (colour ? `\u001b[${CODES[style]}m${text}\u001b[m` : text);
}

/** A path as a person can read and copy it: control characters as escapes, bytes that are not UTF-8 as they came. */
export function showPath(path: string): string {
  return /[\u0000-\u001f\u007f]/.test(path) ? JSON.stringify(path) : path;
}
/** In local time, and in a form that names the snapshot again. */
export function localTime(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `0`, `812`, `1.2K`, `34M`. */
export function fileSize(bytes: number): string {
  let size = bytes;
  for (const unit of ['', 'K', 'M', 'G']) {
    if (size < 1000)
      return unit === '' || size >= 10 ? `${Math.round(size)}${unit}` : `${size.toFixed(1)}${unit}`;
    size /= 1024;
  }
  return `${Math.round(size)}T`;
}

export function sentence(text: string): string {
  return `${capitalized(text)}.`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
