/** Reads what `git diff-tree -r -z --raw [--numstat]` prints, for one pair of trees or for many commits. */

export interface FileVersion {
  readonly mode: string;
  readonly oid: string;
}

export interface DiffEntry {
  /** As on disk; one byte per character. */
  readonly path: string;
  /** Undefined: there is no file. */
  readonly before: FileVersion | undefined;
  readonly after: FileVersion | undefined;
  /** Lines, where they were counted. */
  readonly insertions: number | undefined;
  readonly removals: number | undefined;
}

/** From a path in a tree to the path that the caller knows it by. */
export type PathDecoder = (path: string) => string;

/** By commit, or under '' where two trees are compared. `output` holds one byte per character. */
export function parseRawDiff(output: string, decodePath: PathDecoder): Map<string, DiffEntry[]> {
  const commits = new Map<string, Map<string, DiffEntry>>();
  let entries = new Map<string, DiffEntry>();
  commits.set('', entries);
  const fields = output.split('\0');
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as string;
    const lines = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field);
    if (field.startsWith(':')) {
      const path = decodePath(fields[++i] as string);
      entries.set(path, together(entries.get(path), parseEntry(path, field)));
    } else if (lines !== null) {
      const [, insertions, removals, path = ''] = lines;
      const entry = entries.get(decodePath(path));
      if (entry !== undefined && insertions !== '-')
        entries.set(entry.path, {
          ...entry,
          insertions: Number(insertions),
          removals: Number(removals),
        });
    } else if (field !== '') {
      entries = new Map();
      commits.set(field, entries);
    }
  }
  return new Map([...commits].map(([commit, found]) => [commit, [...found.values()]]));
}

/** The mode that git prints for a file that is not there. */
const NO_FILE = '000000';

function parseEntry(path: string, field: string): DiffEntry {
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

/** A name that stands in one of the trees otherwise than on disk comes as a deletion and an addition. */
function together(one: DiffEntry | undefined, other: DiffEntry): DiffEntry {
  return { ...other, before: one?.before ?? other.before, after: one?.after ?? other.after };
}
