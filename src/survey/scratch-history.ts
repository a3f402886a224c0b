/**
 * Commits for the time of one command: the files of many sandboxes as they are, and merges of them. One git writes all of
 * them, into a repository of its own that reads the objects of the real one.
 */
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { attributeFiles, convertsLineEnds } from '../autocommit/stat-cache/converted.ts';
import { readIfThere } from '../disk/read-file.ts';
import { attempt } from '../errors.ts';
import { submoduleHead } from '../git/files/head-file.ts';
import { LINK, SUBMODULE, treeMode } from '../git/modes.ts';
import { EXACT_NAMES } from '../git/objects/fast-import.ts';
import type { IndexEdit } from '../git/objects/scratch-index.ts';
import { type ScratchObjects, scratchRepository } from '../git/objects/scratch-objects.ts';
import type { StatusEntry } from '../git/objects/status.ts';
import type { GitConfig } from '../git/run/config.ts';
import { type Git, inDirectory } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import { parentDirectories } from '../snapshot/tree.ts';

/** A commit that exists, or a mark of one that `write` makes. */
export type CommitName = string;

const MARK = ':';
const IDENTITY = 'committer agt <agt@local> 0 +0000';

export interface ScratchSandbox {
  readonly path: string;
  readonly files: readonly StatusEntry[];
  /** Blobs of files of which git stores other bytes than those on disk. */
  readonly converted: ReadonlyMap<string, string>;
}

/** A larger uncommitted file counts as a binary one: a listing does not compare its lines. */
const LARGEST_READ = 1024 * 1024;

export class ScratchHistory {
  /** Those with files that are too large to read. */
  readonly inPart = new Set<CommitName>();
  private readonly parts: Buffer[] = [];
  private marks = 0;
  private oids: ReadonlyMap<string, string> = new Map();

  /** The files of a sandbox on top of its HEAD. */
  addSandbox(head: string, { path: sandbox, files: entries, converted }: ScratchSandbox): CommitName {
    const mark = this.begin();
    this.line(`from ${head}`);
    // A file may be in the place of a directory, or the other way round.
    for (const { path, kind } of entries) if (kind !== 'untracked') this.line(`D ${quote(path)}`);
    for (const entry of entries) if (!isGone(entry)) this.addFile(sandbox, entry, converted.get(entry.path));
    this.line('');
    return mark;
  }

  /** The commit with these files in place of its own. */
  addFiles(commit: string, files: readonly IndexEdit[]): CommitName {
    const mark = this.begin();
    this.line(`from ${commit}`);
    for (const [path, entry] of files)
      this.line(`${entry === undefined ? 'D' : `M ${entry}`} ${quote(path)}`);
    this.line('');
    return mark;
  }

  /** A merge that records the tree of `into`: its difference from the real merge is what that would change. */
  addMerge(into: CommitName, commit: CommitName): CommitName {
    const mark = this.begin();
    this.line(`from ${into}`);
    this.line(`merge ${commit}`);
    this.line('');
    return mark;
  }

  /** False if git could not write the commits. */
  write(scratch: ScratchObjects, like: string): boolean {
    if (this.marks === 0) return true;
    const marks = join(scratch.dir, 'marks');
    const settings = [...EXACT_NAMES, '-c', 'fastimport.unpackLimit=0', '-c', 'pack.compression=0'];
    const args = [...settings, 'fast-import', '--quiet', '--done', `--export-marks=${marks}`];
    this.line('done');
    const git = scratchRepository(scratch, like);
    const written = askGitSync(git, args, { input: Buffer.concat(this.parts) });
    if (written === undefined) return false;
    const lines = readFileSync(marks, 'utf8').split('\n');
    this.oids = new Map(lines.map((line) => line.split(' ') as [string, string]));
    return true;
  }

  /** After `write`. Empty without a name. */
  oidOf(name: CommitName = ''): string {
    return name.startsWith(MARK) ? (this.oids.get(name) ?? '') : name;
  }

  private begin(): CommitName {
    const mark = `${MARK}${++this.marks}`;
    this.line(`commit refs/heads/${this.marks}\nmark ${mark}\n${IDENTITY}\ndata 0`);
    return mark;
  }

  private line(text: string): void {
    this.parts.push(Buffer.from(`${text}\n`, 'latin1'));
  }

  private addFile(sandbox: string, { path, unstaged, index }: StatusEntry, blob: string | undefined): void {
    if (path.split('/').some((part) => FORBIDDEN.test(part))) return;
    const file = unstaged === '.' ? undefined : readWorkingFile(sandbox, path);
    if (file !== undefined && blob !== undefined) {
      this.line(`M ${file.mode} ${blob} ${quote(path)}`);
      return;
    }
    if (file !== undefined) {
      if (file.isUnread) this.inPart.add(`${MARK}${this.marks}`);
      this.line(`M ${file.mode} inline ${quote(path)}\ndata ${file.content.length}`);
      this.parts.push(file.content);
      this.line('');
      return;
    }
    const commit = unstaged === '.' ? undefined : submoduleHead(onDisk(sandbox, path).toString());
    const entry = commit === undefined ? index : `${SUBMODULE} ${commit}`;
    if (entry !== '') this.line(`M ${entry} ${quote(path)}`);
  }
}

function isGone({ kind, staged, unstaged }: StatusEntry): boolean {
  return kind === 'tracked' && (unstaged === 'D' || (staged === 'D' && unstaged === '.'));
}

/** Names that git takes for its own directory. */
const FORBIDDEN = /^\.?\.?$|^\.git$|^git~\d$/i;

function onDisk(sandbox: string, path: string): Buffer {
  return Buffer.from(`${Buffer.from(sandbox).toString('latin1')}/${path}`, 'latin1');
}

/** Undefined if it has gone or cannot be read. */
function readWorkingFile(
  sandbox: string,
  path: string,
): { mode: string; content: Buffer; isUnread?: true } | undefined {
  const file = onDisk(sandbox, path);
  return attempt(() => {
    const stat = lstatSync(file);
    if (stat.isSymbolicLink()) return { mode: LINK, content: readlinkSync(file, 'buffer') };
    if (!stat.isFile()) return undefined;
    const mode = treeMode(stat.mode);
    if (stat.size > LARGEST_READ)
      return { mode, content: Buffer.from(`\0${stat.size} ${stat.mtimeMs}`), isUnread: true };
    return { mode, content: readFileSync(file) };
  });
}

/** Whether a listing compares its bytes. */
function isRead(sandbox: string, path: string): boolean {
  const stat = attempt(() => lstatSync(onDisk(sandbox, path)));
  return stat?.isFile() === true && stat.size <= LARGEST_READ;
}

/** As git reads a path from a line; one byte per character. */
function quote(path: string): string {
  if (!/^"|[\n\r\\ ]/.test(path)) return path;
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;
}

/** Matches every attributes file that lets git store other bytes than those on disk. */
const CONVERTING = /text|crlf|eol|ident|filter|working-tree-encoding|\[attr\]/;

/**
 * Changed files of a sandbox as `git add` would store them: by line endings, filters, `ident` and encodings. Blobs by path;
 * empty if git stores the bytes as they are, and if it cannot tell. `scratch` takes the objects.
 */
export function convertedBlobs(
  scratch: Git,
  commonDir: string,
  { path: sandbox, files }: { readonly path: string; readonly files: readonly StatusEntry[] },
  config: GitConfig,
): ReadonlyMap<string, string> {
  const git = inDirectory(scratch, sandbox);
  const changed = files.filter(({ unstaged }) => unstaged !== '.').map(({ path }) => path);
  const above = new Set(changed.flatMap(parentDirectories));
  const rules = ['.gitattributes', ...[...above].map((directory) => `${directory}/.gitattributes`)];
  const isConverting = (file: string) => CONVERTING.test(readIfThere(file));
  if (changed.length === 0) return new Map();
  if (!convertsLineEnds(config) && !attributeFiles(git, commonDir, rules, config).some(isConverting))
    return new Map();
  const paths = changed.filter((path) => isRead(sandbox, path));
  const input = Buffer.from(paths.map((path) => `${quote(path)}\n`).join(''), 'latin1');
  const oids =
    askGitSync(git, ['hash-object', '-w', '--stdin-paths'], { input })?.toString().split('\n') ?? [];
  return new Map(oids.length > paths.length ? paths.map((path, i) => [path, oids[i] ?? '']) : []);
}
