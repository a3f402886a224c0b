/** Reads the output of `git diff-tree -r -z --raw [--numstat]`, for one pair of trees or for many commits. */
import { type Git, gitBytes } from '../run/git.ts';

interface FileVersion {
  readonly mode: string;
  readonly oid: string;
}

export interface DiffEntry {
  /** As on disk; one byte per character. */
  readonly path: string;
  /** Undefined if there was no file. */
  readonly before: FileVersion | undefined;
  /** Undefined if there is no file any more. */
  readonly after: FileVersion | undefined;
  /** Number of lines; undefined without `--numstat` and for binary files. */
  readonly insertions: number | undefined;
  readonly removals: number | undefined;
}

/** `mode oid`, as an index has it. */
export function entryOf(version: DiffEntry['before']): string | undefined {
  return version && `${version.mode} ${version.oid}`;
}

/** For an index: the files as they are before these changes, or after them. */
export function editsOf(changes: readonly DiffEntry[], end: 'before' | 'after') {
  return changes.map((change) => [change.path, entryOf(change[end])] as const);
}

interface DiffTreesOptions {
  /** Pathspecs; all files without any. */
  readonly paths?: readonly string[];
  readonly countLines?: boolean;
  readonly decodePath?: PathDecoder;
}

export function diffTreeWords(countLines: boolean): string[] {
  return ['diff-tree', '-r', '-z', '--raw', '--no-renames', ...(countLines ? ['--numstat'] : [])];
}

/** Files that differ. */
export async function diffTrees(
  git: Git,
  from: string,
  to: string,
  { paths = [], countLines = true, decodePath = (path) => path }: DiffTreesOptions = {},
): Promise<DiffEntry[]> {
  const output = await gitBytes(git, [...diffTreeWords(countLines), from, to, '--', ...paths]);
  return parseRawDiff(output.toString('latin1'), decodePath).get('') ?? [];
}

/** A file that git takes for a renamed one. */
interface Rename extends Pick<DiffEntry, 'insertions' | 'removals'> {
  /** The old and the new name are as they are in the trees. */
  readonly old: string;
  readonly name: string;
}

export async function findRenames(
  git: Git,
  from: string,
  to: string,
  paths: readonly string[] = [],
): Promise<Rename[]> {
  const words = ['diff-tree', '-r', '-z', '-M', '--diff-filter=R', '--numstat', from, to, '--', ...paths];
  const fields = (await gitBytes(git, words)).toString('latin1').split('\0');
  const count = (text: string | undefined) => (/^\d+$/.test(text ?? '') ? Number(text) : undefined);
  return fields.flatMap((field, i) => {
    const [insertions, removals] = field.split('\t').map(count);
    const [old, name] = fields.slice(i + 1);
    return i % 3 > 0 || old === undefined || name === undefined ? [] : [{ old, name, insertions, removals }];
  });
}

/** Whether git could find any. */
export function mayHaveRenames(changes: readonly Pick<DiffEntry, 'before' | 'after'>[]): boolean {
  return changes.some(({ before }) => !before) && changes.some(({ after }) => !after);
}

export interface ShownChange extends DiffEntry {
  /** The old name of a renamed file. */
  readonly old?: string;
}

/** The changes between two trees as git shows them: a renamed file is one. */
export async function withRenames(
  git: Git,
  from: string,
  to: string,
  changes: readonly DiffEntry[],
): Promise<ShownChange[]> {
  if (!mayHaveRenames(changes)) return [...changes];
  const renames = await findRenames(git, from, to);
  const gone = new Set(renames.map(({ old }) => old));
  const byName = new Map(renames.map((rename) => [rename.name, rename]));
  return changes.flatMap((change) =>
    gone.has(change.path) ? [] : { ...change, ...byName.get(change.path) },
  );
}

/** What is staged, against a commit. */
export async function diffIndex(git: Git, commit: string): Promise<DiffEntry[]> {
  const form = ['-z', '--raw', '--no-renames', '--abbrev=64'];
  const words = ['diff-index', '--cached', '--ita-invisible-in-index', ...form, commit, '--'];
  return parseRawDiff((await gitBytes(git, words)).toString('latin1'), (path) => path).get('') ?? [];
}

/** Turns a path in a tree into the path on disk. */
type PathDecoder = (path: string) => string;

/** Returns entries by commit, or under '' if git compared two trees. `output` holds one byte per character. */
export function parseRawDiff(output: string, decodePath: PathDecoder): Map<string, DiffEntry[]> {
  const commits = new Map<string, Map<string, DiffEntry>>();
  let entries = new Map<string, DiffEntry>();
  commits.set('', entries);
  const fields = output.split('\0');
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as string;
    const lineCounts = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field);
    if (field.startsWith(':')) {
      const path = decodePath(fields[++i] as string);
      const joined = joinVersions(entries.get(path), parseEntry(path, field));
      // It has only got the other form of its name.
      const { before, after } = joined;
      if (before && before.oid === after?.oid && before.mode === after.mode) entries.delete(path);
      else entries.set(path, joined);
    } else if (lineCounts !== null) {
      const [, insertions, removals, path = ''] = lineCounts;
      const entry = entries.get(decodePath(path));
      if (entry === undefined || insertions === '-') continue;
      entries.set(entry.path, { ...entry, insertions: Number(insertions), removals: Number(removals) });
    } else if (field !== '') {
      entries = new Map();
      commits.set(field, entries);
    }
  }
  return new Map([...commits].map(([commit, found]) => [commit, [...found.values()]]));
}

/** The mode that git prints if there is no file. */
const NO_FILE = '000000';

/** `field`: what git prints before the path. */
export function parseEntry(path: string, field: string): DiffEntry {
  const [oldMode, mode, oldOid, oid] = field.slice(1).split(' ');
  const version = (m = '', o = '') => (m === NO_FILE ? undefined : { mode: m, oid: o });
  return {
    path,
    before: version(oldMode, oldOid),
    after: version(mode, oid),
    insertions: undefined,
    removals: undefined,
  };
}

/** If only one of the trees has the encoded form of a name, git reports one file as a deletion and an addition. */
export function joinVersions<T extends DiffEntry>(first: DiffEntry | undefined, second: T): T {
  return { ...second, before: first?.before ?? second.before, after: first?.after ?? second.after };
}
