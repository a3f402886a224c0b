/** Puts into a manifest what a scan found that a git tree cannot say. */

import { jsonPath, pathFromJson } from '../disk/path-bytes.ts';
import { isUnder } from '../snapshot/folders.ts';
import { type Operation, operationDigest } from '../snapshot/git-operation.ts';
import type { CapturedManifest } from '../snapshot/manifest.ts';
import type { Scanned } from './scan/scan.ts';

export interface Described {
  readonly session: string;
  readonly head: CapturedManifest['head'];
  readonly operation: Operation | undefined;
  readonly label: string | undefined;
  readonly tool: string | undefined;
  readonly ignore: readonly string[] | undefined;
  /** The top-level folders that were scanned; what lies elsewhere or could not be read is taken from `before`. */
  readonly tops: readonly string[];
}

export function describeFolder(
  scanned: Scanned,
  before: CapturedManifest | undefined,
  at: Described,
): CapturedManifest {
  const stands = (path: string) => !isUnder(path, at.tops) || scanned.stands(pathFromJson(path));
  const kept = (paths: readonly string[] = []) => paths.filter(stands);
  const outside = [...scanned.skipped, ...scanned.failed].map(({ path, reason }) => ({
    path: jsonPath(path),
    reason,
  }));
  const named = new Set(outside.map(({ path }) => path));
  return {
    version: 1,
    session: at.session,
    head: at.head,
    operation: at.operation?.name ?? null,
    ...(at.operation === undefined ? {} : { operation_digest: operationDigest(at.operation) }),
    label: at.label ?? null,
    tool: at.tool ?? null,
    modes: scanned.modes.describe(
      Object.entries(before?.modes.others ?? {}).filter(([path]) => stands(path)),
    ),
    empty_directories: [...kept(before?.empty_directories), ...scanned.emptyDirectories.map(jsonPath)].sort(),
    encoded: [...kept(before?.encoded), ...scanned.encoded.map(jsonPath)].sort(),
    skipped: [
      ...(before?.skipped.filter(({ path }) => stands(path) && !named.has(path)) ?? []),
      ...outside,
    ].sort(byPath),
    ...(at.ignore === undefined ? {} : { agtignore: at.ignore }),
  };
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}
