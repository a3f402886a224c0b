/** What a scan is asked for, and what it names. */

import type { PlaceCheck } from '../../disk/is-inside.ts';
import type { IgnoreFile } from '../../snapshot/ignore-file.ts';
import type { Confirming } from '../stat-cache/refresh-in-threads.ts';
import type { Content, HashName } from './content.ts';

export interface ScanOptions {
  readonly hash: HashName;
  readonly maxFileSize: number;
  /** Top-level folders. */
  readonly tops: readonly string[];
  readonly ignore: IgnoreFile | undefined;
  /** Unix seconds. */
  readonly rereadSince: number | undefined;
  readonly isHere: PlaceCheck;
  /** What is being done about the last scan; undefined: the folder is walked. */
  readonly confirming: Confirming | undefined;
  /** Takes content that the last state does not hold; false when the file has changed meanwhile. */
  readonly keep: (path: string, content: Content) => Promise<boolean>;
}

export interface Skipped {
  /** Relative to the session folder, one byte per character. */
  readonly path: string;
  readonly reason: string;
}
