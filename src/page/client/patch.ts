/** Reads what `git diff` prints of one file, and finds lines that were only moved. */

export interface PatchLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
  readonly old?: number;
  readonly new?: number;
  /** The same line stands elsewhere in this file as added or removed. */
  moved?: boolean;
}

export interface Hunk {
  readonly heading: string;
  readonly lines: PatchLine[];
}

export interface Patch {
  readonly hunks: readonly Hunk[];
  readonly isBinary: boolean;
  /** Lines such as `old mode 100644`. */
  readonly notes: readonly string[];
}

const HEADING = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/;
const NOTE = /^(old mode|new mode)/;

export function readPatch(text: string): Patch {
  const hunks: Hunk[] = [];
  const notes: string[] = [];
  let [before, after] = [0, 0];
  let hunk: Hunk | undefined;
  for (const line of text.split('\n')) {
    const [, a, b, words = ''] = HEADING.exec(line) ?? [];
    if (a !== undefined && b !== undefined) {
      [before, after] = [Number(a), Number(b)];
      hunk = { heading: words.trim(), lines: [] };
      hunks.push(hunk);
    } else if (line.startsWith('diff --git ')) hunk = undefined;
    else if (hunk === undefined) {
      if (NOTE.test(line)) notes.push(line);
    } else if (line.startsWith('+')) hunk.lines.push({ kind: 'added', text: line.slice(1), new: after++ });
    else if (line.startsWith('-')) hunk.lines.push({ kind: 'removed', text: line.slice(1), old: before++ });
    else if (line.startsWith(' '))
      hunk.lines.push({ kind: 'same', text: line.slice(1), old: before++, new: after++ });
  }
  markMoved(hunks);
  return { hunks, notes, isBinary: /^Binary files .* differ$/m.test(text) };
}

/** Short lines, such as a bracket, are the same by chance. */
const SHORTEST_MOVED = 8;

function markMoved(hunks: readonly Hunk[]): void {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const texts = (kind: PatchLine['kind']) =>
    new Set(lines.filter((line) => line.kind === kind).map(({ text }) => text.trim()));
  const [added, removed] = [texts('added'), texts('removed')];
  for (const line of lines) {
    const text = line.text.trim();
    if (line.kind !== 'same' && text.length >= SHORTEST_MOVED && added.has(text) && removed.has(text))
      line.moved = true;
  }
}

type Pair = readonly [old: PatchLine | undefined, next: PatchLine | undefined];

/** Beside each other: a removed line and the added one that takes its place. */
export function inPairs(lines: readonly PatchLine[]): Pair[] {
  const pairs: Pair[] = [];
  let removed: PatchLine[] = [];
  let added: PatchLine[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i += 1) pairs.push([removed[i], added[i]]);
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === 'removed') removed.push(line);
    else if (line.kind === 'added') added.push(line);
    else {
      flush();
      pairs.push([line, line]);
    }
  }
  flush();
  return pairs;
}
