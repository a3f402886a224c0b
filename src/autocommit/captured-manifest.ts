/**
 * `_/manifest.json` of a shadow commit: what a git tree cannot say. Deterministic, so that an unchanged folder gives an
 * unchanged blob. Paths are relative to the session folder, in the form of display.ts.
 */
import { jsonPath, pathFromJson } from './display.ts';
import type { Scanned } from './scan.ts';
import { isUnder } from './tops.ts';
import { encodePath } from './tree-names.ts';
import type { Walked } from './walk.ts';

export interface CapturedManifest {
  readonly version: 1;
  readonly session: string;
  readonly head: { readonly ref: string | null; readonly commit: string | null };
  /** `merge`, `rebase`, …: what git was in the middle of. */
  readonly operation: string | null;
  readonly label: string | null;
  readonly tool: string | null;
  /** Permission bits, octal: what most files, programs and directories have, then the others by path. */
  readonly modes: {
    readonly file: string;
    readonly program: string;
    readonly directory: string;
    readonly others: Readonly<Record<string, string>>;
  };
  readonly empty_directories: readonly string[];
  /** Paths that stand in the tree under another name. */
  readonly encoded: readonly string[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

export interface Described {
  readonly session: string;
  readonly head: CapturedManifest['head'];
  readonly operation: string | null;
  readonly label: string | undefined;
  readonly tool: string | undefined;
  /** The top-level folders that were scanned; what lies elsewhere is taken from `before`. */
  readonly tops: readonly string[];
}

export function describeFolder(
  { walked, skipped }: Scanned,
  before: CapturedManifest | undefined,
  at: Described,
): CapturedManifest {
  const empty = [...walked.directories].filter(([, directory]) => directory.empty).map(([path]) => path);
  const encoded = [...walked.files.keys(), ...empty].filter((path) => encodePath(path) !== path);
  const elsewhere = (path: string) => !isUnder(path, at.tops);
  const kept = (paths: readonly string[] = []) => paths.filter(elsewhere);
  return {
    version: 1,
    session: at.session,
    head: at.head,
    operation: at.operation,
    label: at.label ?? null,
    tool: at.tool ?? null,
    modes: describeModes(walked, before, elsewhere),
    empty_directories: [...kept(before?.empty_directories), ...empty.map(jsonPath)].sort(),
    encoded: [...kept(before?.encoded), ...encoded.map(jsonPath)].sort(),
    skipped: [
      ...(before?.skipped.filter(({ path }) => elsewhere(path)) ?? []),
      ...skipped.map(({ path, reason }) => ({ path: jsonPath(path), reason })),
    ].sort(byPath),
  };
}

type Kind = 'file' | 'program' | 'directory';

function describeModes(
  walked: Walked,
  before: CapturedManifest | undefined,
  elsewhere: (path: string) => boolean,
): CapturedManifest['modes'] {
  const bits: Record<Kind, [path: string, mode: number][]> = { file: [], program: [], directory: [] };
  for (const [path, stat] of walked.files) {
    if (stat.isFile()) bits[isProgram(stat.mode) ? 'program' : 'file'].push([path, stat.mode & 0o7777]);
  }
  for (const [path, { mode }] of walked.directories) bits.directory.push([path, mode & 0o7777]);

  const kept = Object.entries(before?.modes.others ?? {}).filter(([path]) => elsewhere(path));
  // What was usual stays so: one more or less of them does not turn the list inside out.
  const usual = before === undefined ? usualOf(bits) : readModes(before).usual;
  const others = (['file', 'program', 'directory'] as const).flatMap((kind) =>
    bits[kind]
      .filter(([, mode]) => mode !== usual[kind])
      .map(([path, mode]): [string, string] => [jsonPath(path), octal(mode)]),
  );
  return {
    file: octal(usual.file),
    program: octal(usual.program),
    directory: octal(usual.directory),
    others: Object.fromEntries([...kept, ...others].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** What git takes for an executable. */
function isProgram(mode: number): boolean {
  return (mode & 0o100) !== 0;
}

function usualOf(bits: Record<Kind, [path: string, mode: number][]>): Record<Kind, number> {
  return {
    file: mostFrequent(bits.file, 0o644),
    program: mostFrequent(bits.program, 0o755),
    directory: mostFrequent(bits.directory, 0o755),
  };
}

function mostFrequent(modes: readonly (readonly [string, number])[], fallback: number): number {
  const counts = new Map<number, number>();
  for (const [, mode] of modes) counts.set(mode, (counts.get(mode) ?? 0) + 1);
  // In a tie the smaller one, so that the order of the walk does not matter.
  return [...counts].sort(([a, n], [b, m]) => m - n || a - b)[0]?.[0] ?? fallback;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}

export function serialize(manifest: CapturedManifest): string {
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/** Permission bits by path, where they are not the usual ones; `usual` for all others. */
export function readModes(manifest: CapturedManifest) {
  const number = (text: string) => Number.parseInt(text, 8);
  const { file, program, directory, others } = manifest.modes;
  return {
    usual: { file: number(file), program: number(program), directory: number(directory) },
    others: new Map(Object.entries(others).map(([path, mode]) => [pathFromJson(path), number(mode)])),
  };
}
