/**
 * Writes lines, and notes who put each of them where it is. No two lines have the same text, but for those that somebody has
 * copied or moved to another file: git blame names the one who did that.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { git } from '../../harness/world.ts';
import type { Random } from '../random.ts';

export interface Line {
  readonly text: string;
  /** `s1 claude 2`: session, agent and turn; `person`: anybody who is no agent; `unknown`: two agents were at work. */
  readonly by: string;
  /** If no other call was at work. */
  readonly call?: string | undefined;
  /** Of a line from another file: all names that that file has had, and who wrote the line there. */
  readonly from?: { readonly names: readonly string[]; readonly line: Line };
  /** Before somebody indented it. */
  readonly under?: Line;
}

export type Files = Map<string, readonly Line[]>;

export interface Author {
  readonly by: string;
  readonly call?: string | undefined;
}

export const PERSON: Author = { by: 'person' };

export interface Place {
  readonly folder: string;
  files: Files;
  /** Renamed or indented in commits that may become one: git would not find such a file under another name. */
  readonly settled?: Set<string>;
}

/** git takes a file for a renamed one if half of it stays. */
const LINES_TO_RENAME = 12;

export const textOf = (lines: readonly Line[]) => lines.map((line) => `${line.text}\n`).join('');

export class Pen {
  private count = 0;
  private readonly known = new Map<string, Line>();
  /** The names that a file has had, and those of the file that it is a copy of. */
  private readonly names = new Map<string, readonly string[]>();
  readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  fresh({ by, call }: Author, most: number, least = 1): Line[] {
    return Array.from({ length: least + this.random.below(most - least + 1) }, () => {
      this.count += 1;
      return { text: `line ${this.count} by ${by.replace(/\d+/g, '')} ${this.random.below(1e6)}`, by, call };
    });
  }

  private name(old: string): string {
    this.count += 1;
    const top = this.random.chance(0.3) ? 'd/' : '';
    return `${top}${old.replace(/^d\/|\d+$/g, '')}${this.count}`;
  }

  put(place: Place, name: string, lines: readonly Line[]): void {
    this.know(name, lines);
    place.files.set(name, lines);
    mkdirSync(dirname(join(place.folder, name)), { recursive: true });
    writeFileSync(join(place.folder, name), textOf(lines));
  }

  know(name: string, lines: readonly Line[]): void {
    for (const line of lines) {
      if (!this.known.has(line.text)) this.known.set(line.text, line);
      this.known.set(`${name}\0${line.text}`, line);
    }
  }

  /** The same line in files that are gone. */
  inGone(text: string, files: Files): Line[] {
    return [...this.known].flatMap(([key, line]) => {
      const [name = '', own] = key.split('\0');
      return own === text && !files.has(name) ? [line] : [];
    });
  }

  /** The files of a worktree after git has merged: each line is of the one who put it there. */
  read(folder: string): Files {
    const names = git(folder, 'ls-files', '--cached', '--others', '--exclude-standard')
      .split('\n')
      .filter((name) => name !== '' && existsSync(join(folder, name)));
    return new Map(names.map((name) => [name, this.lines(name, readFileSync(join(folder, name), 'utf8'))]));
  }

  lines(name: string, text: string): Line[] {
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const known = this.known.get(`${name}\0${line}`) ?? this.known.get(line);
        if (known === undefined) throw new Error(`nobody has written "${line}" in ${name}`);
        return known;
      });
  }

  /** Adds, changes, indents or deletes a few lines. */
  edit(place: Place, author: Author, name = this.random.pick([...place.files.keys()])): void {
    const lines = place.files.get(name) ?? [];
    const at = this.random.below(lines.length + 1);
    const count = Math.min(lines.length - at, 1 + this.random.below(3));
    const act = this.random.below(4);
    const old = lines.slice(at, at + count);
    const put =
      act === 0
        ? this.fresh(author, 4)
        : act === 1
          ? this.fresh(author, 2)
          : act === 2
            ? this.indented(old, author)
            : [];
    this.put(place, name, lines.toSpliced(at, act === 0 ? 0 : count, ...put));
  }

  /** One act of somebody: mostly an edit; a tool that indents a file, a rename, a copy, lines moved to a new file. */
  act(place: Place, author: Author): void {
    const { random } = this;
    const names = [...place.files.keys()].filter((name) => place.settled?.has(name) !== true);
    const long = names.filter((name) => (place.files.get(name)?.length ?? 0) >= LINES_TO_RENAME);
    const choice = random.below(20);
    if (choice < 12 || names.length === 0) {
      this.edit(place, author);
      return;
    }
    const name = random.pick(names);
    const lines = place.files.get(name) ?? [];
    if (choice < 14) {
      this.put(place, name, this.indented(lines, author));
      place.settled?.add(name);
    } else if (choice < 17 && long.length > 0) this.rename(place, author, random.pick(long));
    else if (choice === 17 && place.files.size < 6) this.copy(place, author, name, this.name(name), lines);
    else if (choice === 18 && lines.length > 2) {
      const at = random.below(lines.length - 1);
      const count = 1 + random.below(Math.min(4, lines.length - at - 1));
      this.copy(place, author, name, this.name('x'), lines.slice(at, at + count));
      this.put(place, name, lines.toSpliced(at, count));
    } else if (choice === 19 && place.files.size > 2) {
      rmSync(join(place.folder, name));
      place.files.delete(name);
    }
  }

  /** No two people indent the same line in the same way. */
  private indented(lines: readonly Line[], { by, call }: Author): Line[] {
    this.count += 1;
    const space = this.count.toString(2).replaceAll('0', ' ').replaceAll('1', '\t');
    return lines.map((line) => ({ text: `${space}${line.text}`, by, call, under: line }));
  }

  private namesOf(name: string): readonly string[] {
    return [...(this.names.get(name) ?? []), name];
  }

  private copy(place: Place, { by, call }: Author, name: string, to: string, lines: readonly Line[]): void {
    const names = this.namesOf(name);
    this.names.set(to, names);
    this.put(
      place,
      to,
      lines.map((line) => ({ text: line.text, by, call, from: { names, line } })),
    );
  }

  private rename(place: Place, author: Author, name: string): void {
    const to = this.name(name);
    mkdirSync(dirname(join(place.folder, to)), { recursive: true });
    renameSync(join(place.folder, name), join(place.folder, to));
    this.names.set(to, this.namesOf(name));
    // A part of the work may land in which lines are that have gone since.
    for (const [key, line] of [...this.known])
      if (key.startsWith(`${name}\0`)) this.known.set(`${to}\0${line.text}`, line);
    place.files.set(to, place.files.get(name) ?? []);
    place.files.delete(name);
    place.settled?.add(to);
    if (this.random.chance(0.4)) this.edit(place, author, to);
  }
}
