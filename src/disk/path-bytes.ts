/** Paths for people and for JSON. In agt a path holds one byte per character, and may not be UTF-8. */
import { attempt } from '../errors.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** For messages and `--json`: readable, and not always reversible. */
export function displayPath(path: string): string {
  return /[\x80-\xff]/.test(path) ? Buffer.from(path, 'latin1').toString() : path;
}

/** For the snapshot manifest: UTF-8 if the bytes are, else `%XX` for each byte above 0x7f. `%` itself is `%25`. */
export function jsonPath(path: string): string {
  const escaped = path.replaceAll('%', '%25');
  if (!/[\x80-\xff]/.test(escaped)) return escaped;
  return (
    attempt(() => decoder.decode(Buffer.from(escaped, 'latin1'))) ??
    escaped.replace(/[\x80-\xff]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  );
}

/** Reverses `jsonPath`. */
export function pathFromJson(text: string): string {
  const bytes = Buffer.from(text).toString('latin1');
  return bytes.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

export function parentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
