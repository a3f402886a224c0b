/**
 * git's answers about the refs of a session, in a file, so that the next capture need not ask git: objects never change.
 * agt reads from files where the refs lead to, and asks git about a commit that the file does not name.
 */
import { existsSync, rmSync } from 'node:fs';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { readJson } from '../disk/read-file.ts';
import { readRefValues } from '../git/files/ref-files.ts';
import type { Git } from '../git/run/git.ts';
import { knownRefsFile } from '../layout.ts';
import type { CaptureTarget } from './request.ts';

export interface KnownRefs {
  readonly tip: string;
  readonly tipTree: string;
  /** `_/manifest.json` of the tip; undefined if it has none. */
  readonly tipManifest?: string | undefined;
  /** Commits that the repository has. */
  readonly commits: readonly string[];
}

/** Undefined without a usable file: agt then asks git. */
export function readKnownRefs({
  agtDir,
  sessionId,
}: Pick<CaptureTarget, 'agtDir' | 'sessionId'>): KnownRefs | undefined {
  const found = readJson(knownRefsFile(agtDir, sessionId)) as Partial<KnownRefs> | null | undefined;
  const { tip, tipTree, tipManifest, commits } = found ?? {};
  if (tip === undefined || tipTree === undefined || !Array.isArray(commits)) return undefined;
  return { tip, tipTree, tipManifest, commits };
}

/** Not flushed: agt does without a damaged file. */
export function writeKnownRefs({ agtDir, sessionId }: CaptureTarget, known: KnownRefs): void {
  writeFileAtomic(knownRefsFile(agtDir, sessionId), JSON.stringify(known), { cache: true });
}

/** So that the next attempt asks git. False if agt knew nothing. */
export function forgetKnownRefs({ agtDir, sessionId }: Pick<CaptureTarget, 'agtDir' | 'sessionId'>): boolean {
  const file = knownRefsFile(agtDir, sessionId);
  if (!existsSync(file)) return false;
  rmSync(file);
  return true;
}

/** Undefined if git must be asked: `known` lacks one of the commits. A ref without a value does not exist. */
export function refsWithoutGit(
  git: Git,
  { commonDir, tipRef }: CaptureTarget,
  known: KnownRefs,
  names: readonly string[],
): ReadonlyMap<string, string | undefined> | undefined {
  const values = readRefValues(commonDir, [tipRef, ...names], git.env);
  if (values?.get(tipRef) !== known.tip) return undefined;
  const isKnown = (commit: string | undefined) =>
    commit === undefined || commit === known.tip || known.commits.includes(commit);
  return [...values.values()].every(isKnown) ? values : undefined;
}
