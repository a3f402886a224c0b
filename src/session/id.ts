/** Session ids: part of file names, ref names and command lines, so only plain characters. */
import { randomInt } from 'node:crypto';
import { usageError } from '../errors.ts';
import { localTime } from '../local-time.ts';

export type SessionId = string & { readonly __brand: 'SessionId' };

const PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Why `text` cannot be an id, or undefined. git allows no `..`, final dot or `.lock` in a ref. */
export function idProblem(text: string): string | undefined {
  if (!PATTERN.test(text))
    return 'an id has 1 to 64 letters, digits, ".", "_" and "-"; the first is a letter or a digit';
  if (/\.lock$/i.test(text)) return 'an id cannot end in ".lock", as the names of git\'s lock files do';
  if (text.includes('..') || text.endsWith('.')) return 'an id cannot contain ".." or end in "."';
  if (text === 'help') return 'with this word, commands print their help';
  return undefined;
}

export function checkId(text: string): SessionId {
  const problem = idProblem(text);
  if (problem !== undefined) throw usageError(`"${text}" is not a session id`, problem);
  return text as SessionId;
}

/** `sess-YYYYMMDD-HHMMSS-xxxx`, in local time. */
export function generateId(now: Date): SessionId {
  const time = localTime(now).replace(/[-:]/g, '').replace(' ', '-');
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const tail = Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `sess-${time}-${tail}` as SessionId;
}
