/** Session ids: part of file names, ref names and command lines, and therefore plain. */
import { randomInt } from 'node:crypto';
import { usageError } from '../errors.ts';

export type SessionId = string & { readonly __brand: 'SessionId' };

const FORM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Why `text` cannot be an id, or undefined. `..` and a final dot or `.lock` would make an invalid ref. */
export function idProblem(text: string): string | undefined {
  if (!FORM.test(text))
    return 'ids are 1 to 64 letters, digits, ".", "_" and "-", the first a letter or digit';
  if (/\.lock$/i.test(text)) return 'ids do not end in ".lock", which git keeps for its own files';
  if (text.includes('..') || text.endsWith('.')) return 'ids hold no ".." and do not end in "."';
  return undefined;
}

export function checkId(text: string): SessionId {
  const problem = idProblem(text);
  if (problem !== undefined) throw usageError(`'${text}' is not a session id`, problem);
  return text as SessionId;
}

/** `sess-YYYYMMDD-HHMMSS-xxxx`, in local time. */
export function generateId(now: Date): SessionId {
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const time = `${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const tail = Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `sess-${day}-${time}-${tail}` as SessionId;
}
