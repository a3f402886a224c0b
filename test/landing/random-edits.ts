/** Random trees and edits of them, on disk, for the property of an acceptance. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';

const PATHS = ['a', 'b', 'd', 'd/a', 'd/b', 'e/f/g', 'e/f', 'sp ace', 'é"x', 'u.union', 'x.log', 'd/y.log'];
const path = fc.constantFrom(...PATHS);
const line = fc.constantFrom('1', '2', '3', 'mine', 'theirs', '');
const text = fc.array(line, { maxLength: 8 }).map((lines) => lines.map((one) => `${one}\n`).join(''));

export type Edit =
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'line'; readonly path: string; readonly at: number; readonly text: string }
  | { readonly kind: 'delete' | 'executable' | 'link'; readonly path: string }
  | { readonly kind: 'move'; readonly path: string; readonly to: string };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('write' as const), path, text }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('line' as const), path, at: fc.nat(8), text: line }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'executable', 'link'), path }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), path, to: path }) },
);

export const start = fc.array(fc.tuple(path, text), { minLength: 3, maxLength: 9 });
export const edits = fc.array(edit, { maxLength: 5 });

/** In place of whatever is in the way. */
export function place(dir: string, name: string, content: string): void {
  makeRoom(dir, name);
  writeFileSync(join(dir, name), content);
}

function makeRoom(dir: string, name: string): void {
  for (let parent = dirname(name); parent !== '.'; parent = dirname(parent)) {
    const stat = statOf(join(dir, parent));
    if (stat !== undefined && !stat.isDirectory()) rmSync(join(dir, parent));
  }
  rmSync(join(dir, name), { recursive: true, force: true });
  mkdirSync(dirname(join(dir, name)), { recursive: true });
}

export function apply(dir: string, edit: Edit): void {
  const absolute = join(dir, edit.path);
  const stat = statOf(absolute);
  if (edit.kind === 'write') place(dir, edit.path, edit.text);
  else if (edit.kind === 'delete') {
    if (stat !== undefined) rmSync(absolute, { recursive: true });
  } else if (edit.kind === 'link') {
    makeRoom(dir, edit.path);
    symlinkSync('a', absolute);
  } else if (edit.kind === 'executable') {
    if (stat?.isFile()) chmodSync(absolute, stat.mode ^ 0o111);
  } else if (edit.kind === 'line') {
    if (stat?.isFile()) changeLine(absolute, edit.at, edit.text);
  } else if (edit.kind === 'move' && stat !== undefined && !isRelated(edit.path, edit.to)) {
    makeRoom(dir, edit.to);
    if (statOf(absolute) !== undefined) renameSync(absolute, join(dir, edit.to));
  }
}

/** Undefined also below a file. */
function statOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isRelated(a: string, b: string): boolean {
  return `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);
}

function changeLine(file: string, at: number, content: string): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  lines[Math.min(at, lines.length - 1)] = content;
  writeFileSync(file, lines.join('\n'));
}

/** Every file and link below a directory, by path. */
export function filesOf(dir: string, below = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(join(dir, below), { withFileTypes: true })) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (name === '.git') continue;
    const absolute = join(dir, name);
    if (entry.isDirectory()) for (const [path, content] of filesOf(dir, name)) found.set(path, content);
    else if (entry.isSymbolicLink()) found.set(name, `link ${readlinkSync(absolute)}`);
    else
      found.set(name, `${lstatSync(absolute).mode & 0o111 ? 'x' : '-'} ${readFileSync(absolute, 'latin1')}`);
  }
  return found;
}
