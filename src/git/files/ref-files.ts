/** Refs from the files of a repository. git decides whether one is broken. Without files, ask git. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile, readSmallFile, statOrUndefined } from '../../disk/read-file.ts';
import { attempt, errorCode } from '../../errors.ts';
import { once } from '../../once.ts';

export const HEADS = 'refs/heads/';
export const TAGS = 'refs/tags/';
export const REMOTES = 'refs/remotes/';

/** Each worktree has its own, in its git directory; git does not pack them. */
export const OF_WORKTREE = /^refs\/(bisect|rewritten|worktree)\//;

/** False for a reftable, and for refs in another directory (git 2.54). */
export function hasRefFiles(commonDir: string, env: NodeJS.ProcessEnv): boolean {
  if (env['GIT_REFERENCE_BACKEND']) return false;
  return !/refstorage\s*=\s*"?(reftable|\w+:)/i.test(readSmallFile(join(commonDir, 'config')) ?? '');
}

/** The bytes of packed-refs; empty if there is no such file. */
export function readPackedRefs(commonDir: string): Buffer {
  return attempt(() => readRegularFile(join(commonDir, 'packed-refs'))) ?? Buffer.alloc(0);
}

const LINE_BREAK = 10;

/** Full names of the packed refs that start with `prefix`. */
export function packedRefNames(packedRefs: Buffer, prefix: string): string[] {
  const names: string[] = [];
  const wanted = Buffer.from(` ${prefix}`);
  let offset = packedRefs.indexOf(wanted);
  while (offset !== -1) {
    const end = packedRefs.indexOf(LINE_BREAK, offset);
    names.push(packedRefs.toString('utf8', offset + 1, end === -1 ? packedRefs.length : end));
    offset = packedRefs.indexOf(wanted, offset + 1);
  }
  return names;
}

/** Whether there is a loose or a packed ref of this full name. */
export function hasRef(commonDir: string, name: string): boolean {
  return (
    statOrUndefined(join(commonDir, name))?.isFile() === true ||
    packedRefNames(readPackedRefs(commonDir), name).includes(name)
  );
}

/** Full names of the loose refs below a directory of refs such as `refs/heads/agt/`. */
export function looseRefNames(commonDir: string, directory: string): string[] {
  const names: string[] = [];
  const walk = (dir: string) => {
    for (const entry of entriesOf(join(commonDir, dir))) {
      const path = `${dir}${entry.name}`;
      if (entry.isDirectory()) walk(`${path}/`);
      else if (!entry.name.endsWith('.lock')) names.push(path);
    }
  };
  walk(directory.endsWith('/') ? directory : `${directory}/`);
  return names;
}

/** Names of the directories in `dir`; none if it cannot be read. */
export function subdirectories(dir: string): string[] {
  return entriesOf(dir)
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

function entriesOf(dir: string) {
  return attempt(() => readdirSync(dir, { withFileTypes: true })) ?? [];
}

/** `main` for `refs/heads/main`. */
export function shortBranch(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

const SHORT_OID_LENGTH = 10;

/** As messages have it: always the same length, so that columns align and core.abbrev changes nothing. */
export function shortOid(oid: string): string {
  return oid.slice(0, SHORT_OID_LENGTH);
}

/** Undefined for a ref that does not exist. */
export type RefValues = ReadonlyMap<string, string | undefined>;

/** A loose ref counts before a packed one. Undefined if only git can tell: a symbolic or damaged ref, no ref files. */
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

/** Of the branches below `refs/remotes/origin/` and the like; HEAD there is the name of one of them. */
export function readValuesBelow(
  commonDir: string,
  directory: string,
  env: NodeJS.ProcessEnv,
): string[] | undefined {
  const packed = packedRefNames(readPackedRefs(commonDir), directory);
  const names = new Set([...looseRefNames(commonDir, directory), ...packed]);
  names.delete(`${directory}HEAD`);
  const values = readRefValues(commonDir, [...names], env)?.values();
  return values && [...values].filter((value) => value !== undefined);
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
