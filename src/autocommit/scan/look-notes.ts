/** What a look at a session folder found, apart from the contents of files. */
import { lstatSync, type Stats } from 'node:fs';
import { systemPath } from '../../disk/long-path.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { isEmptyPlace, type KnownPlaces, PlaceNotes, tellsByTimes } from '../stat-cache/known-places.ts';
import type { Skipped } from './scan-options.ts';

export class LookNotes {
  readonly emptyDirectories: string[] = [];
  readonly directories = new Set<string>();
  /** Left out by rule. */
  readonly skipped: Skipped[] = [];
  private readonly encodedFiles: string[] = [];
  private readonly places: PlaceNotes;

  /** Absolute, one byte per character. */
  constructor(folder: string) {
    const place = systemPath(folder);
    this.places = new PlaceNotes(tellsByTimes(place) ? lstatSync(place).dev : undefined);
  }

  /** A file of the new state. */
  file(path: string): void {
    if (encodePath(path) !== path) this.encodedFiles.push(path);
  }

  directory(path: string, stat: Stats, empty: boolean): void {
    this.places.add(path, stat, empty);
    this.noteDirectory(path, empty);
  }

  /** One that is as it was. */
  keepDirectory(known: KnownPlaces, place: number): void {
    this.places.keep(known, place);
    this.noteDirectory(known.paths[place] as string, isEmptyPlace(known, place));
  }

  skip(path: string, reason: string): void {
    this.skipped.push({ path, reason });
  }

  /** Paths that stand in the tree under another name. */
  get encoded(): string[] {
    return [...this.encodedFiles, ...this.emptyDirectories.filter((path) => encodePath(path) !== path)];
  }

  finish(ignore: string): KnownPlaces {
    const others = this.skipped.map(({ path }) => path);
    return this.places.finish(others, this.encodedFiles, ignore);
  }

  private noteDirectory(path: string, empty: boolean): void {
    this.directories.add(path);
    if (empty) this.emptyDirectories.push(path);
  }
}
