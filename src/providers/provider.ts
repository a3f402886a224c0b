/**
 * A provider makes, freezes and removes the folders that sessions live in, by the means of one file system.
 *
 * The contract:
 * 1. A provider changes how long things take, never what a sandbox holds or a snapshot says. `git` is the oracle of the
 *    others: with it, agt copies files by itself.
 * 2. The shadow branch stays the truth. Everything that a provider keeps may be lost; all commands still work.
 * 3. The provider and the way in which an agent works there (worktree, in place) are independent.
 * 4. A provider removes only what agt has made: each resource has a token, and its nonce is at the resource.
 * 5. A lease names each resource before it exists, outside of the repository (lease.ts).
 * 6. `remove` may be called again, from any process, whatever was killed.
 */
import type { ProviderKind } from './kind.ts';
import type { Place } from './place.ts';
import type { Token } from './token.ts';

/** The abilities of a provider at a place. */
export interface Finding {
  readonly kind: ProviderKind;
  /** 0: it cannot work there, and the first note says why. `auto` takes the highest. */
  readonly score: number;
  /** Whether it can make a writable folder with the content of another one, whatever the size. */
  readonly clone: boolean;
  /** Whether it can keep the content of a folder at one instant, and drop that again at once. */
  readonly freeze: boolean;
  readonly drop: 'at once' | 'slowly';
  readonly notes: readonly string[];
  /** The next step for a person, if the score is 0 or less than it could be. */
  readonly hint?: string | undefined;
}

export interface Provider {
  readonly kind: ProviderKind;
  /** `auto` neither takes it nor looks for it. */
  readonly onRequest?: true;
  /** Its folders are mount points: no rename moves them. */
  readonly mounts?: boolean;
  /** Each mount gives the files other inode numbers. */
  readonly newInodes?: true;
  /** Changes nothing at the place. */
  readonly find: (place: Place) => Finding;
  /** Makes the folder of the token, which must not exist, at its temporary path: empty, or with the content of `from`. */
  readonly prepare: (token: Token, from?: string) => Promise<void>;
  /** Gives the folder its own path. Without it a rename does. */
  readonly settle?: (token: Token) => Promise<void>;
  /** Whether something of the token is mounted. */
  readonly isMounted?: (token: Token) => boolean;
  /** Keeps the content of `folder`, which goes on, under the path of the token. */
  readonly freeze: (folder: string, token: Token) => Promise<void>;
  /** Whether nobody can have written to a frozen folder: root can make it writable. Without it, agt cannot tell. */
  readonly isFrozen?: (folder: string) => boolean;
  /** Nobody can write to a closed folder. */
  readonly close?: (folder: string, isClosed: boolean) => Promise<void>;
  /** Removes what the token names, also if it was moved to `at`. False if agt has not made what is there. */
  readonly remove: (token: Token, at?: string) => Promise<boolean>;
  /** Paths in a directory that agt has made with this provider. */
  readonly walk: (directory: string) => Token[];
  /** Gives the folder of the token another path. A folder of other providers can be renamed. */
  readonly move?: (token: Token, from: string, to: string) => Promise<void>;
  /** Mounts a folder that is mounted no longer. True if it was not; with `dryRun` it stays so. */
  readonly ensure?: (token: Token, folder: string, dryRun?: boolean) => boolean;
  /** A frozen folder that sessions are built on; `remove` leaves it. */
  readonly isUsed?: (token: Token) => boolean;
  /** Whether the folder of the token is at a path, where no file tells. */
  readonly holds?: (path: string, token: Token) => boolean;
  /** The name of what the token stands for, if it is there and not mounted. */
  readonly unmounted?: (token: Token) => Promise<string | undefined>;
}
