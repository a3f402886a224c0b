/**
 * Paths that could not be captured. Unlike paths that a rule leaves out, they make the snapshot incomplete, and it keeps
 * what the last one has there.
 */
import { getSystemErrorMessage } from 'node:util';
import { errorCode } from '../errors.ts';

/** agt itself has run out of something: no fault of the file. */
const OWN_SHORTAGES = ['EMFILE', 'ENFILE', 'ENOMEM'];

/** The reason, if the system refuses a path. @throws every other error. */
export function failureReason(verb: string, error: unknown): string {
  const code = errorCode(error);
  if (!(error instanceof Error && 'errno' in error) || OWN_SHORTAGES.includes(code)) throw error;
  return `cannot be ${verb}: ${getSystemErrorMessage(Number(error.errno))} (${code})`;
}

/** Returns a function that tells whether a path is one of `paths` or below one. All hold one byte per character. */
export function underAny(paths: readonly string[]): (path: string) => boolean {
  if (paths.length === 0) return () => false;
  const known = new Set(paths);
  return (path) => {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (known.has(path.slice(0, end))) return true;
    }
    return false;
  };
}
