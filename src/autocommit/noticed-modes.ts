/**
 * Permission bits, as the captured manifest lists them: what most files, programs and directories have, then the others
 * by path. What was usual in the last state stays so: one more or less of them does not turn the list inside out.
 */
import { type CapturedManifest, readModes } from './captured-manifest.ts';
import { jsonPath } from './display.ts';

type Kind = 'file' | 'program' | 'directory';

export class NoticedModes {
  private readonly usual: Record<Kind, number> | undefined;
  /** Without a last state everything is kept until it is clear what is usual. */
  private readonly noticed: [path: string, kind: Kind, mode: number][] = [];

  constructor(before: CapturedManifest | undefined) {
    this.usual = before === undefined ? undefined : readModes(before).usual;
  }

  file(path: string, stat: { mode: number }): void {
    // Of a link they mean nothing.
    if ((stat.mode & 0o170000) !== 0o120000)
      this.add(path, isProgram(stat.mode) ? 'program' : 'file', stat.mode);
  }

  directory(path: string, mode: number): void {
    this.add(path, 'directory', mode);
  }

  private add(path: string, kind: Kind, mode: number): void {
    if (this.usual?.[kind] !== (mode & 0o7777)) this.noticed.push([path, kind, mode & 0o7777]);
  }

  /** `kept` are entries of the last state that were not looked at this time. */
  describe(kept: readonly [string, string][]): CapturedManifest['modes'] {
    const usual = this.usual ?? {
      file: this.mostFrequent('file', 0o644),
      program: this.mostFrequent('program', 0o755),
      directory: this.mostFrequent('directory', 0o755),
    };
    const others = this.noticed
      .filter(([, kind, mode]) => mode !== usual[kind])
      .map(([path, , mode]): [string, string] => [jsonPath(path), octal(mode)]);
    return {
      file: octal(usual.file),
      program: octal(usual.program),
      directory: octal(usual.directory),
      others: Object.fromEntries([...kept, ...others].sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  }

  private mostFrequent(kind: Kind, fallback: number): number {
    const counts = new Map<number, number>();
    for (const [, of, mode] of this.noticed) if (of === kind) counts.set(mode, (counts.get(mode) ?? 0) + 1);
    // In a tie the smaller one, so that the order of the walk does not matter.
    return [...counts].sort(([a, n], [b, m]) => m - n || a - b)[0]?.[0] ?? fallback;
  }
}

/** What git takes for an executable. */
function isProgram(mode: number): boolean {
  return (mode & 0o100) !== 0;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
