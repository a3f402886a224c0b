/** Reads a file of JSON that may be missing or damaged: undefined then. */
import { readFileSync } from 'node:fs';

export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
