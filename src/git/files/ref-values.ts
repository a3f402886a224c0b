/** Reads from the files of a repository which commits refs lead to, as git does: a loose ref, else a line of packed-refs. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { errorCode } from '../../errors.ts';
import { once } from '../../once.ts';
import { hasRefFiles, readPackedRefs } from './ref-files.ts';

/** Undefined for a ref that does not exist. */
export type RefValues = ReadonlyMap<string, string | undefined>;

/** Undefined if only git can tell: a symbolic ref, a damaged one, refs that are not in files. */
export function readRefValues(
  commonDir: string,
  names: readonly string[],
  env: NodeJS.ProcessEnv,
): RefValues | undefined {
  if (!hasRefFiles(commonDir, env)) return undefined;
  const packed = once(() => readPackedRefs(commonDir));
  try {
    return new Map(names.map((name) => [name, looseValue(commonDir, name) ?? packedValue(packed(), name)]));
  } catch (error) {
    if (error instanceof OnlyGitKnows) return undefined;
    throw error;
  }
}

class OnlyGitKnows extends Error {}

const OBJECT_NAME = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

function looseValue(commonDir: string, name: string): string | undefined {
  if (!/^refs\/[^/]/.test(name) || /(^|\/)\.\.?(\/|$)/.test(name)) throw new OnlyGitKnows();
  const path = join(commonDir, name);
  const stat = lstatIfThere(path);
  if (stat === undefined || stat.isDirectory()) return undefined;
  const value = stat.isFile() ? readSmallFile(path)?.trimEnd() : undefined;
  if (value !== undefined && OBJECT_NAME.test(value)) return value;
  // Somebody may have packed or deleted the ref in this instant.
  if (lstatIfThere(path) === undefined) return undefined;
  throw new OnlyGitKnows();
}

function lstatIfThere(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return undefined;
    throw new OnlyGitKnows();
  }
}

function packedValue(packedRefs: Buffer, name: string): string | undefined {
  const at = packedRefs.indexOf(` ${name}\n`);
  if (at === -1) return undefined;
  const value = packedRefs.toString('latin1', packedRefs.lastIndexOf('\n', at) + 1, at);
  if (!OBJECT_NAME.test(value)) throw new OnlyGitKnows();
  return value;
}
