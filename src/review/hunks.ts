/**
 * The hunks between two trees, as git prints them, and a tree with some of them. A hunk has one or more pieces: rows of
 * changed lines that follow each other. A piece knows its exact place, so that nothing has to be searched for.
 */
import { createHash } from 'node:crypto';
import { listTree } from '../git/objects/ls-tree.ts';
import { findObjects, readObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees, entryOf, findRenames } from '../git/objects/raw-diff.ts';
import { editTree, type IndexEdit, withoutIndex } from '../git/objects/scratch-index.ts';
import { FSYNC_ARGS, type Git, gitBytes, gitText } from '../git/run/git.ts';
import { isUnder } from '../snapshot/folders.ts';

/** Text has one byte per character. */
export interface Piece {
  /** The same as long as its lines and those beside it are. */
  readonly id: string;
  /** `file`: all of a file that is new, deleted, binary, or of another type. */
  readonly kind: 'lines' | 'mode' | 'file';
  readonly file: DiffEntry;
  /** Indexes of its first line, counted from 0. */
  readonly oldAt: number;
  readonly newAt: number;
  /** With their line breaks. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export interface Hunk {
  readonly path: string;
  /** Numbers of the first line, counted from 1. */
  readonly oldStart: number;
  readonly newStart: number;
  /** As in a patch. */
  readonly lines: readonly string[];
  /** Each is in `lines` from `from` up to `to`. */
  readonly pieces: readonly PlacedPiece[];
}

interface PlacedPiece {
  readonly piece: Piece;
  readonly from: number;
  readonly to: number;
}

const CONTEXT = 3;

/** `git` runs in a worktree whose attributes apply. */
export async function readHunks(git: Git, from: string, to: string): Promise<Hunk[]> {
  const reading = withoutIndex(git);
  const files = await diffTrees(reading, from, to, { countLines: false });
  const words = ['--no-renames', `-U${CONTEXT}`, '--inter-hunk-context=0', '--no-ext-diff', '--no-textconv'];
  const plain = ['-c', 'diff.suppressBlankEmpty=false', 'diff-tree', '-r', '-p', '--no-color'];
  const printed = await gitBytes(reading, [...plain, ...words, from, to]);
  // JavaScript's own `^` would also begin a line after a carriage return.
  const sections = printed.length === 0 ? [] : printed.toString('latin1').split(/(?<=\n)(?=diff --git )/);
  const expected = files.reduce((sum, file) => sum + sectionsOf(file), 0);
  if (sections.length !== expected) throw new Error(`git printed ${sections.length} files of ${expected}`);
  const ids = new Map<string, number>();
  const naming = (...parts: readonly unknown[]) => {
    const id = createHash('sha1').update(JSON.stringify(parts)).digest('hex').slice(0, ID_DIGITS);
    const count = (ids.get(id) ?? 0) + 1;
    ids.set(id, count);
    return count === 1 ? id : `${id}-${count}`;
  };
  return files.flatMap((file) => {
    const own = sections.splice(0, sectionsOf(file));
    return hunksOfFile(file, own.join(''), naming);
  });
}

const ID_DIGITS = 12;

/** For another type git prints a deletion and an addition. */
function sectionsOf({ before, after }: DiffEntry): number {
  return before !== undefined && after !== undefined && typeOf(before) !== typeOf(after) ? 2 : 1;
}

const REGULAR = '10';
const typeOf = (version: DiffEntry['before']) => version?.mode.slice(0, REGULAR.length);

type Naming = (...parts: readonly unknown[]) => string;

function hunksOfFile(file: DiffEntry, section: string, naming: Naming): Hunk[] {
  const { path, before, after } = file;
  const [, ...printed] = section.split(/(?<=\n)(?=@@ -)/);
  const at = { oldAt: 0, newAt: 0, removed: [], added: [] };
  const isRegular = typeOf(before) === REGULAR && typeOf(after) === REGULAR;
  if (!isRegular || (printed.length === 0 && before?.oid !== after?.oid)) {
    const piece = { id: naming(path, entryOf(before), entryOf(after)), kind: 'file', file, ...at } as const;
    const lines = printed.flatMap(linesOf);
    return [{ path, oldStart: 1, newStart: 1, lines, pieces: [{ piece, from: 0, to: lines.length }] }];
  }
  const modes: Hunk[] = [];
  if (before?.mode !== after?.mode) {
    const piece = { id: naming(path, before?.mode, after?.mode), kind: 'mode', file, ...at } as const;
    modes.push({ path, oldStart: 1, newStart: 1, lines: [], pieces: [{ piece, from: 0, to: 0 }] });
  }
  return [...modes, ...printed.map((hunk) => parseHunk(file, hunk, naming))];
}

function linesOf(hunk: string): string[] {
  return hunk
    .slice(hunk.indexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
}

function parseHunk(file: DiffEntry, hunk: string, naming: Naming): Hunk {
  const [, old = '', oldCount, start = '', count] =
    /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(hunk) ?? [];
  // Without lines, the number is that of the line before.
  const first = (number: string, lines?: string) => Number(number) + (lines === '0' ? 1 : 0);
  const [oldStart, newStart] = [first(old, oldCount), first(start, count)];
  const lines = linesOf(hunk);
  const pieces: PlacedPiece[] = [];
  let [oldAt, newAt] = [oldStart - 1, newStart - 1];
  for (let from = 0; from < lines.length; ) {
    let to = from;
    while (to < lines.length && lines[to]?.[0] !== ' ') to++;
    if (to === from) {
      // A last line without a line break that is the same on both sides.
      const isNote = lines[from + 1]?.[0] === '\\';
      from += isNote ? 2 : 1;
      oldAt++;
      newAt++;
      continue;
    }
    const texts = (sign: string) =>
      lines.slice(from, to).flatMap((line, i) => {
        if (line[0] !== sign) return [];
        return [line.slice(1) + (lines[from + i + 1]?.[0] === '\\' ? '' : '\n')];
      });
    const [removed, added] = [texts('-'), texts('+')];
    const id = naming(file.path, lines[from - 1], removed, added, lines[to]);
    pieces.push({ piece: { id, kind: 'lines', file, oldAt, newAt, removed, added }, from, to });
    oldAt += removed.length;
    newAt += added.length;
    from = to;
  }
  return { path: file.path, oldStart, newStart, lines, pieces };
}

/** Hunks for rows of pieces, with the lines around them. `isApart`: whether two pieces have to be in different ones. */
export function splitHunk(
  { path, oldStart, newStart, lines, pieces }: Hunk,
  isApart: (one: Piece, next: Piece) => boolean = () => true,
): Hunk[] {
  const hunks: Hunk[] = [];
  for (let first = 0, end = 1; first < pieces.length; first = end, end++) {
    const at = (i: number) => pieces[i] as PlacedPiece;
    while (end < pieces.length && !isApart(at(end - 1).piece, at(end).piece)) end++;
    const start = Math.max(first > 0 ? at(first - 1).to : 0, at(first).from - CONTEXT);
    const stop = end < pieces.length ? Math.min(at(end).from, at(end - 1).to + CONTEXT) : lines.length;
    const before = lines.slice(0, start);
    const count = (sign: string) => before.filter((line) => line[0] === ' ' || line[0] === sign).length;
    hunks.push({
      path,
      oldStart: oldStart + count('-'),
      newStart: newStart + count('+'),
      lines: lines.slice(start, stop),
      pieces: pieces
        .slice(first, end)
        .map(({ piece, from, to }) => ({ piece, from: from - start, to: to - start })),
    });
  }
  return hunks;
}

/** Files that git calls renamed: by the id of each half, the other half. */
export async function renamesAmong(
  git: Git,
  from: string,
  to: string,
  hunks: readonly Hunk[],
): Promise<ReadonlyMap<string, Piece>> {
  const files = piecesOf(hunks).filter(({ kind }) => kind === 'file');
  const without = (end: 'before' | 'after') =>
    new Map(files.filter(({ file }) => file[end] === undefined).map((piece) => [piece.file.path, piece]));
  const [made, gone] = [without('before'), without('after')];
  if (made.size === 0 || gone.size === 0) return new Map();
  const halves = new Map<string, Piece>();
  for (const { old, name } of await findRenames(withoutIndex(git), from, to)) {
    const [one, other] = [gone.get(old), made.get(name)];
    if (one && other) halves.set(one.id, other).set(other.id, one);
  }
  return halves;
}

/** The lines that differ between two blobs. */
export async function linesBetween(git: Git, before: string, after: string): Promise<string[]> {
  if (before === after) return [];
  const words = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', `-U${CONTEXT}`, before, after];
  const printed = (await gitBytes(withoutIndex(git), words)).toString('latin1');
  const start = printed.search(/^@@/m);
  return start < 0 ? [] : printed.slice(start).trimEnd().split('\n');
}

export function piecesOf(hunks: readonly Hunk[]): Piece[] {
  return hunks.flatMap(({ pieces }) => pieces.map(({ piece }) => piece));
}

/** `tree` has the files before the pieces; or with `isReverse` those after them, from which the pieces go. */
export async function treeWith(
  index: Git,
  tree: string,
  pieces: readonly Piece[],
  all: readonly Piece[],
  isReverse = false,
): Promise<string> {
  const chosen = Map.groupBy(pieces, ({ file }) => file.path);
  const counts = Map.groupBy(all, ({ file }) => file.path);
  const edits = await Array.fromAsync(chosen, async ([path, own]): Promise<IndexEdit> => {
    const { before, after } = (own[0] as Piece).file;
    const [from, to] = isReverse ? [after, before] : [before, after];
    if (from === undefined || to === undefined || own.length === counts.get(path)?.length)
      return [path, entryOf(to)];
    const mode = own.some(({ kind }) => kind === 'mode') ? to.mode : from.mode;
    const lines = own.filter(({ kind }) => kind === 'lines');
    if (lines.length === 0) return [path, `${mode} ${from.oid}`];
    const [blob] = await readObjects(index, [from.oid]);
    const text = (blob?.content.toString('latin1') ?? '').split(/(?<=\n)/);
    for (const { oldAt, newAt, removed, added } of lines.toReversed())
      if (isReverse) text.splice(newAt, added.length, ...removed);
      else text.splice(oldAt, removed.length, ...added);
    const input = Buffer.from(text.join(''), 'latin1');
    const oid = await gitText(index, [...FSYNC_ARGS, 'hash-object', '-w', '--stdin'], { input });
    return [path, `${mode} ${oid}`];
  });
  return edits.length === 0 ? tree : editTree(index, { tree }, edits);
}

/** A file that comes where others are, or below one, would take those away: it waits until they are chosen as well. */
export function withoutObstructed(
  chosen: readonly Piece[],
  all: readonly Piece[],
  isReverse = false,
): readonly Piece[] {
  const own = new Set(chosen);
  const end = isReverse ? 'before' : 'after';
  const staying = all.filter((piece) => piece.file[end] === undefined && !own.has(piece));
  const isBeside = (a: string, b: string) => isUnder(a, [b]) || isUnder(b, [a]);
  return chosen.filter(({ file }) => !staying.some((other) => isBeside(other.file.path, file.path)));
}

interface Marks {
  /** Trees. */
  readonly seen: string;
  readonly tree: string;
  readonly rejected: readonly { readonly id: string; readonly path: string }[];
  /** Those of the tree, if they are known. */
  readonly hunks?: readonly Hunk[];
}

/** The hunks of a tree in which renamed files with rejections have their old names, and the tree without some pieces. */
export async function readUnderOldNames(git: Git, index: Git, { seen, tree, rejected, ...known }: Marks) {
  const own = known.hunks ?? (await readHunks(git, seen, tree));
  const isThere = new Set(piecesOf(own).map(({ id }) => id));
  const files = [...new Set(rejected.flatMap(({ id, path }) => (isThere.has(id) ? [] : path)))];
  const names = [seen, tree].flatMap((of) => files.map((path) => `${of}:${path}`));
  const found = await findObjects(git, names);
  const gone = new Set(files.filter((_, i) => found[i] && found[files.length + i] === undefined));
  const all = gone.size === 0 ? [] : await findRenames(withoutIndex(git), seen, tree);
  const renames = all.filter(({ old }) => gone.has(old)).map(({ old, name }) => [old, name] as const);
  const move = async (from: string, ways: readonly (readonly [old: string, name: string])[]) => {
    if (ways.length === 0) return from;
    const files = await listTree(git, from, 'files');
    const entries = new Map(files.map(({ path, mode, oid }) => [path, `${mode} ${oid}`]));
    const edits = ways.flatMap(([to, at]): IndexEdit[] => [
      [at, undefined],
      [to, entries.get(at)],
    ]);
    return editTree(index, { tree: from }, edits);
  };
  const named = await move(tree, renames);
  const hunks = named === tree ? own : await readHunks(git, seen, named);
  const pieces = piecesOf(hunks);
  const without = async (ids: ReadonlySet<string>) => {
    const chosen = pieces.filter(({ id }) => ids.has(id));
    const less = await treeWith(index, named, withoutObstructed(chosen, pieces, true), pieces, true);
    const back = renames.map(([old, name]) => [name, old] as const);
    return move(less, back);
  };
  const ids = isThere.union(new Set(pieces.map(({ id }) => id)));
  return { hunks, ids, tree: named, newNames: new Map(renames), without };
}
