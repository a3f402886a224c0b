/** The lines of a file of facts, which agtmode/front/front-text.ts reads. Names stand after the line of their directory. */
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { GIT_DIR_FILES } from '../../snapshot/git-dir-files.ts';

/** Files of a git directory that a snapshot holds. The front knows them by itself. */
export const GIT_FILES: readonly string[] = ['index', ...GIT_DIR_FILES];

/** The first line. The front starts agt if it knows another one, or other files of a git directory. */
export const FACTS_FORMAT = `agt-front-1-${crc32(GIT_FILES.join(' ')).toString(16)}`;

/** agt cannot say by times, names and contents what is the same. */
export class CannotTell extends Error {}

export class FactLines {
  private readonly lines: string[] = [FACTS_FORMAT];
  private directory = '';

  /** The names of the following calls are in `directory`. */
  in(directory: string): this {
    this.directory = directory;
    return this.add(`in ${directory}`);
  }

  /** `more` goes to a line of its own. */
  add(...lines: string[]): this {
    if (lines.some((line) => /[\n\0\ufffd]/.test(line))) throw new CannotTell();
    this.lines.push(...lines);
    return this;
  }

  /** Those that are there have to stay, without anything newer in them; the others must not come. */
  keep(names: readonly string[]): this {
    this.keepThose(names);
    return this.without(names.filter((name) => this.lstat(name) === undefined));
  }

  /** One file, or the link to it: people keep their settings in another directory. */
  keepFile(name: string): this {
    if (this.lstat(name)?.isSymbolicLink() !== true) return this.keep([name]);
    const real = realpathSync(join(this.directory, name));
    return this.add(`leads ${name}`, real, `root ${real}`);
  }

  /** Those of `GIT_FILES` that are there, and no other one of them. */
  keepGitFiles(): this {
    return this.keepThose(GIT_FILES).add('git-files');
  }

  /** As `keep`, for directories and without what is in them. */
  keepDirectories(names: readonly string[]): this {
    const stats = names.map((name) => this.lstat(name));
    if (stats.some((stat) => stat?.isDirectory() === false)) throw new CannotTell();
    this.list(
      'directories',
      names.filter((_, i) => stats[i] !== undefined),
    );
    return this.without(names.filter((_, i) => stats[i] === undefined));
  }

  without(names: readonly string[]): this {
    return this.list('without', names);
  }

  /** A file of one line, which `pattern` matches. */
  same(name: string, pattern = /./): this {
    const text = readFileSync(join(this.directory, name), 'utf8');
    const line = text.slice(0, -1);
    if (!/^[^\n]+\n$/.test(text) || !pattern.test(line)) throw new CannotTell();
    return this.add(`is ${name}`, line);
  }

  /** The whole file. */
  text(): string {
    return `${this.lines.join('\n')}\nend\n`;
  }

  private keepThose(names: readonly string[]): this {
    return this.list(
      'roots',
      names.filter((name) => this.lstat(name) !== undefined),
    );
  }

  private list(kind: string, names: readonly string[]): this {
    if (names.some((name) => /[\s*?[\\]/.test(name))) throw new CannotTell();
    return names.length === 0 ? this : this.add(`${kind} ${names.join(' ')}`);
  }

  private lstat(name: string) {
    return lstatSync(join(this.directory, name), { throwIfNoEntry: false });
  }
}
