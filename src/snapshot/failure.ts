/**
 * What could not be captured, as against what agt leaves out by rule (skipped): the capture is then not complete, and
 * what stood there in the last state stays in the next one.
 */
import { getSystemErrorMessage } from 'node:util';
import { errorCode } from '../errors.ts';

/** What agt itself ran out of, which says nothing of a single file. */
const OWN = ['EMFILE', 'ENFILE', 'ENOMEM'];

/** The reason, for a path that the system refuses. @throws the error itself where it is not about that path. */
export function failureReason(verb: string, error: unknown): string {
  const code = errorCode(error);
  if (!(error instanceof Error && 'errno' in error) || OWN.includes(code)) throw error;
  return `cannot be ${verb}: ${getSystemErrorMessage(Number(error.errno))} (${code})`;
}

/** Paths that are one of `paths` or lie under one. All hold one byte per character. */
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
