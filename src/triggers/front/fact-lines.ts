/** The lines of a file of facts, which agtmode/front/front-text.ts reads. Names stand after the line of their directory. */
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { directoryTimesAreReliable } from '../../autocommit/stat-cache/cached-directories.ts';
import { GIT_DIR_FILES } from '../../snapshot/git-dir-files.ts';

/** Files of a git directory that a snapshot holds. The front knows them by itself. */
export const GIT_FILES: readonly string[] = ['index', ...GIT_DIR_FILES];

/** The first line. The front starts agt if it knows another one, or other files of a git directory. */
export const FACTS_FORMAT = `agt-front-3-${crc32(GIT_FILES.join(' ')).toString(16)}`;

/** agt cannot say by times, names and contents what is the same. */
export class CannotTell extends Error {}

/** First stands where the front has to look for newer files. Then it reads on while it looks: the checks. */
export class FactLines {
  private readonly places: string[] = [];
  private readonly checks: string[] = [];
  private directory = '';
  private directoryOfPlaces = '';

  /** The names of the following calls are in `directory`. */
  in(directory: string): this {
    this.directory = directory;
    return this.check(`in ${directory}`);
  }

  /** Lines about where to look. */
  look(...lines: string[]): this {
    this.places.push(...lines.map(asLine));
    return this;
  }

  /** Lines about what has to be the same. */
  check(...lines: string[]): this {
    this.checks.push(...lines.map(asLine));
    return this;
  }

  /** Those that are there have to stay, without anything newer in them; the others must not come. */
  keep(names: readonly string[]): this {
    this.keepThose(names.filter((name) => this.isThere(name)));
    return this.without(names.filter((name) => !this.isThere(name)));
  }

  /** One file, or the link to it: people keep their settings in another directory. */
  keepFile(name: string): this {
    if (this.lstat(name)?.isSymbolicLink() !== true) return this.keep([name]);
    const real = realpathSync(join(this.directory, name));
    return this.look(`root ${real}`).check(`leads ${name}`, real);
  }

  /** Those of `GIT_FILES` that are there, and no other one of them. */
  keepGitFiles(): this {
    const names = GIT_FILES.filter((name) => this.isThere(name));
    return this.keepThose(names).check(`git-files ${names.join(' ')}`);
  }

  /** As `keep`, for directories and without what is in them. */
  keepDirectories(names: readonly string[]): this {
    const present = names.filter((name) => this.isThere(name));
    if (present.some((name) => this.lstat(name)?.isDirectory() !== true)) throw new CannotTell();
    if (present.length > 0) this.check(`directories ${asWords(present)}`);
    return this.without(names.filter((name) => !present.includes(name)));
  }

  without(names: readonly string[]): this {
    return names.length === 0 ? this : this.check(`without ${asWords(names)}`);
  }

  /** A file of one line, which `pattern` matches. */
  same(name: string, pattern = /./): this {
    const text = readFileSync(join(this.directory, name), 'utf8');
    const line = text.slice(0, -1);
    if (!/^[^\n]+\n$/.test(text) || !pattern.test(line)) throw new CannotTell();
    return this.check(`is ${name}`, line);
  }

  /** The whole file. */
  text(): string {
    return `${[FACTS_FORMAT, ...this.places, 'checks', ...this.checks, 'end'].join('\n')}\n`;
  }

  private keepThose(names: readonly string[]): this {
    if (names.length === 0) return this;
    if (!directoryTimesAreReliable(this.directory)) throw new CannotTell();
    if (this.directoryOfPlaces !== this.directory) this.look(`in ${this.directory}`);
    this.directoryOfPlaces = this.directory;
    return this.look(`roots ${asWords(names)}`);
  }

  private isThere(name: string): boolean {
    return this.lstat(name) !== undefined;
  }

  private lstat(name: string) {
    return lstatSync(join(this.directory, name), { throwIfNoEntry: false });
  }
}

function asLine(text: string): string {
  if (/[\n\0\ufffd]/.test(text)) throw new CannotTell();
  return text;
}

/** The front separates them by blanks. */
function asWords(names: readonly string[]): string {
  if (names.some((name) => /[\s*?[\\]/.test(name))) throw new CannotTell();
  return names.join(' ');
}

/** A path as a pattern that matches nothing else, for `find -path`. */
export function globPattern(path: string): string {
  return path.replace(/[\\*?[]/g, '\\$&');
}

/**
 * For grep, in the lines of /proc/self/mountinfo and /proc/PID/maps: the kernel writes some bytes of a path as octal
 * numbers, so each of those matches with any text.
 */
export function grepPattern(path: string): string {
  return path.replace(/[\\\s#.*[^$]/g, (sign) => (/[.*[^$]/.test(sign) ? `\\${sign}` : '.*'));
}
