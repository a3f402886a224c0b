/**
 * `_/manifest.json` of a shadow commit: what a git tree cannot hold. An unchanged folder always gives the same bytes, and
 * so the same blob. Paths are relative to the session folder, in the form of `jsonPath` (path-bytes.ts).
 */
import { pathFromJson } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import { readObject } from '../git/objects/object-reader.ts';
import type { Git } from '../git/run/git.ts';
import { OWN } from './format.ts';

export interface RecordedHead {
  /** The branch; null if HEAD is detached. */
  readonly ref: string | null;
  /** Null if the branch has no commit yet. */
  readonly commit: string | null;
  /**
   * The commit of the work branch; null if there is no such branch. Missing if HEAD is on the work branch.
   */
  readonly work?: string | null;
}

export interface SnapshotManifest {
  readonly version: 1;
  readonly session: string;
  readonly head: RecordedHead;
  /** The git operation in progress: `merge`, `rebase`, … */
  readonly operation: string | null;
  /** Digest of the files in `_/git-dir`. */
  readonly git_dir_digest: string;
  readonly label: string | null;
  readonly tool: string | null;
  /** Permission bits, octal: the usual ones of files, programs and directories, then all others by path. */
  readonly modes: {
    readonly file: string;
    readonly program: string;
    readonly directory: string;
    readonly others: Readonly<Record<string, string>>;
  };
  /** `uid:gid` of every file with a set-user-ID or set-group-ID bit; missing if there is none. */
  readonly owners?: Readonly<Record<string, string>>;
  readonly empty_directories: readonly string[];
  /** Paths that the git tree has under an encoded name (tree-names.ts). */
  readonly encoded: readonly string[];
  /** Paths that are on disk and not in the tree. A restore must not overwrite them. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** Lines of `.agtignore` at that snapshot; missing if there was none. */
  readonly agtignore?: readonly string[];
  /**
   * The paths that git ignored in an attached folder, directories as a whole; missing if there was nothing. The rules may go, and
   * later snapshots hold these files: a restore deletes none of them.
   */
  readonly ignored?: readonly string[];
}

export function serializeManifest(manifest: SnapshotManifest): string {
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/** As JSON has them. */
export function leftOutPaths({ skipped, ignored = [] }: SnapshotManifest): string[] {
  return [...ignored, ...skipped.map(({ path }) => path)];
}

/** The usual permission bits, and the others by path, one byte per character. */
export function readModes(manifest: SnapshotManifest) {
  const parse = (octal: string) => Number.parseInt(octal, 8);
  const { file, program, directory, others } = manifest.modes;
  return {
    usual: { file: parse(file), program: parse(program), directory: parse(directory) },
    others: new Map(Object.entries(others).map(([path, mode]) => [pathFromJson(path), parse(mode)])),
  };
}

/** Owners by path, one byte per character. */
function readOwners({ owners = {} }: SnapshotManifest) {
  const parse = (owner: string) => {
    const [uid, gid] = owner.split(':').map(Number);
    return { uid: uid ?? -1, gid: gid ?? -1 };
  };
  return new Map(Object.entries(owners).map(([path, owner]) => [pathFromJson(path), parse(owner)]));
}

export interface SnapshotMetadata {
  readonly commit: string;
  readonly manifest: SnapshotManifest;
  readonly modes: ReturnType<typeof readModes>;
  readonly owners: ReturnType<typeof readOwners>;
  readonly emptyDirectories: readonly string[];
  /** Paths that were on disk but are not in the snapshot, by a rule or because of a failure. */
  readonly skipped: readonly string[];
}

export async function readSnapshotMetadata(git: Git, commit: string): Promise<SnapshotMetadata> {
  const found = await readObject(git, `${commit}:${OWN.manifest}`);
  if (found === undefined) throw new AgtError(`${commit} is no snapshot: it has no manifest`);
  return metadataOf(commit, JSON.parse(found.content.toString()) as SnapshotManifest);
}

function metadataOf(commit: string, manifest: SnapshotManifest): SnapshotMetadata {
  return {
    commit,
    manifest,
    modes: readModes(manifest),
    owners: readOwners(manifest),
    emptyDirectories: manifest.empty_directories.map(pathFromJson),
    skipped: manifest.skipped.map(({ path }) => pathFromJson(path)),
  };
}
