/**
 * `_/manifest.json` of a shadow commit: what a git tree cannot say. Deterministic, so that an unchanged folder gives an
 * unchanged blob. Paths are relative to the session folder, in the form of display.ts.
 */
import { pathFromJson } from '../disk/path-bytes.ts';

export interface SnapshotManifest {
  readonly version: 1;
  readonly session: string;
  readonly head: { readonly ref: string | null; readonly commit: string | null };
  /** `merge`, `rebase`, …: what git was in the middle of. */
  readonly operation: string | null;
  /** Of its files, which are in `_/operation`; left out where there is none. */
  readonly operation_digest?: string;
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
  /** Paths that are on disk and not in the tree; what stands there must outlive a restore. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** Lines of `.agtignore` at that snapshot; left out where there was none. */
  readonly agtignore?: readonly string[];
}

export function serialize(manifest: SnapshotManifest): string {
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/** Permission bits by path, where they are not the usual ones; `usual` for all others. */
export function readModes(manifest: SnapshotManifest) {
  const number = (text: string) => Number.parseInt(text, 8);
  const { file, program, directory, others } = manifest.modes;
  return {
    usual: { file: number(file), program: number(program), directory: number(directory) },
    others: new Map(Object.entries(others).map(([path, mode]) => [pathFromJson(path), number(mode)])),
  };
}
