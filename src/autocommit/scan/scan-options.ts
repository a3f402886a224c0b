/** The input of a scan, and the form in which it names paths that it leaves out. */
import { AgtError } from '../../errors.ts';
import type { HashName } from '../../git/objects/hash.ts';
import { type IgnoreFile, ignoreText } from '../../snapshot/ignore-file.ts';
import type { UpToDate } from '../stat-cache/refresh.ts';
import type { StatCache } from '../stat-cache/stat-cache.ts';
import type { Content } from './content.ts';

export interface ScanOptions {
  readonly hash: HashName;
  /** In bytes. */
  readonly maxFileSize: number;
  readonly topFolders: readonly string[];
  /** The sandbox is a link to the user's own checkout, and the only link to follow. */
  readonly isLinked?: boolean;
  /** The git directory of the sandbox, which has those of submodules inside. agt keeps it when the sandbox goes. */
  readonly gitDir?: string | undefined;
  readonly ignore: IgnoreFile | undefined;
  /** Files that the scan takes for absent, without a word. */
  readonly ignored?: IgnoredFiles | undefined;
  /** The scan gives up if it would have to read more files than MOST_FILES. */
  readonly isLimited?: boolean;
  /** The scan gives up with LargeChange. */
  readonly mayFreeze?: boolean;
  /** Unix seconds: files modified then or later are read, even if they look unchanged. */
  readonly rereadSince?: number | undefined;
  /** Files that are read now and by the next scan, since their stat data may not show a change. */
  readonly mapped?: ReadonlySet<string>;
  /** Undefined: every file is read. */
  readonly refreshed?: RefreshedCache | undefined;
  /** Stores content that the last snapshot does not have. False if the file has changed since it was read. */
  readonly store: (path: string, content: Content) => Promise<boolean>;
  /** Asked before a large new file is read, which takes long. @throws AgtError if it does not fit on the disk */
  readonly requireRoom?: (bytes: number) => void;
}

/** The files that git ignores in an attached folder. */
export interface IgnoredFiles {
  /** With directories as a whole; complete after the scan. Also files that a snapshot takes all the same. */
  readonly ignored: ReadonlySet<string>;
  /** Changes with every file that git ignores, or no longer ignores. Empty if it ignores none. */
  readonly text: string;
  /** `path` is relative to the session folder, one byte per character. Ask about a directory before its entries. */
  readonly leavesOut: (path: string) => boolean;
  /** Reads the rules of a repository in the folder, before its entries are examined. */
  readonly enterRepository: (path: string) => void;
}

/** Changes if a scan may capture other files of the same folder than before. */
export function rulesText({ ignore, ignored }: Pick<ScanOptions, 'ignore' | 'ignored'>): string {
  return ignored === undefined || ignored.text === ''
    ? ignoreText(ignore)
    : `${ignoreText(ignore)}\0${ignored.text}`;
}

/** The stat cache of the last snapshot, and what of it is up to date. */
export interface RefreshedCache {
  readonly cache: StatCache;
  readonly upToDate: UpToDate;
}

/** A path that is not captured, and why. */
export interface LeftOut {
  /** Relative to the session folder, one byte per character. */
  readonly path: string;
  readonly reason: string;
}

/** A folder with more is one that nobody meant, such as a disk. Only attached folders have this limit. */
export const MOST_FILES = 200_000;

export class TooManyFiles extends AgtError {
  constructor() {
    super(
      `the folder has more than ${MOST_FILES.toLocaleString('en')} files that git neither tracks nor ignores`,
      {
        hints: ['name large directories in .gitignore, or give a smaller folder'],
      },
    );
  }
}

/**
 * A change of more is large enough to freeze the folder first, which takes some 15 milliseconds: while agt reads so much, an
 * agent may write, and the snapshot would mix two moments. A small change is read in less time than that.
 */
export const FEW_FILES = 256;
export const FEW_BYTES = 32 * 1024 * 1024;

/** Thrown by a scan as soon as it has found that much to read, before it has read anything. */
export class LargeChange extends Error {}

export const isTooLarge = ({ reason }: Pick<LeftOut, 'reason'>) => reason.includes('agt.maxFileSize');

/** Why a file is left out. */
export function tooLarge(size: number): string {
  return `is larger than agt.maxFileSize (${size} bytes)`;
}
