/**
 * A provider makes, freezes and removes the folders that sessions live in, by the means of one file system.
 *
 * The contract:
 * 1. A provider changes how long things take, never what a sandbox holds or a snapshot says. `git` is the oracle of the
 *    others: with it, agt copies files by itself.
 * 2. The shadow branch stays the truth. Everything that a provider keeps may be lost; all commands still work.
 * 3. The provider and the way in which an agent works there (worktree, in place) are independent.
 * 4. A provider removes only what agt has made: each resource has a token, and its nonce is at the resource.
 * 5. A lease names each resource before it exists, outside of the repository (token.ts).
 * 6. `remove` may be called again, from any process, whatever was killed.
 */
import { execFile, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileSystemType, type MountEntry, mountOf } from '../disk/mounts.ts';
import { stateHome } from '../disk/state-home.ts';
import { AgtError, attempt, errorCode } from '../errors.ts';
import type { ProviderKind, Token } from './token.ts';

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
  /** Paths in a directory that agt has made with this provider, without those that others are built on. */
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

/** The finding about a provider that cannot work. */
export function cannot(kind: ProviderKind, reason: string, hint?: string): Finding {
  return { kind, score: 0, clone: false, freeze: false, drop: 'slowly', notes: [reason], hint };
}

/** Facts about the directory in which session folders are, for the providers to judge. */
export interface Place {
  /** The directory of the session folders; it need not exist. */
  readonly directory: string;
  /** It or the nearest directory above that exists. */
  readonly existing: string;
  /** f_type of statfs(2); undefined if the system cannot tell. */
  readonly fileSystem: number | undefined;
  readonly mount: MountEntry | undefined;
  readonly isRoot: boolean;
  /** XDG_STATE_HOME; undefined without a home. */
  readonly state: string | undefined;
  /** Absolute path of a program on PATH. */
  readonly program: (name: string) => string | undefined;
}

export function readPlace(directory: string, env: NodeJS.ProcessEnv): Place {
  const existing = nearestDirectory(directory);
  return {
    directory,
    existing,
    fileSystem: fileSystemType(existing),
    mount: mountOf(existing),
    isRoot: process.geteuid?.() === 0,
    state: stateHome(env),
    program: (name) => findProgram(name, env['PATH']),
  };
}

/** The path itself or the nearest one above that exists. */
export function nearestDirectory(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestDirectory(dirname(path));
}

/** The finding at a place where this user may make no folder; undefined at others. */
export function refuseUnwritable(kind: ProviderKind, { existing }: Place): Finding | undefined {
  if (mayAccess(existing, constants.W_OK)) return undefined;
  return cannot(kind, `${existing} is not writable`, `let your user write to ${existing}`);
}

function mayAccess(path: string, mode: number): boolean {
  return attempt(() => accessSync(path, mode) === undefined) ?? false;
}

/** `, but on ext4`: for a place on another file system than it should be. */
export function butOn({ mount }: Place): string {
  return mount === undefined ? '' : `, but on ${mount.type}`;
}

/** Also where people without root have no PATH for it. */
const SYSTEM_PROGRAMS = ['/usr/sbin', '/sbin', '/usr/bin', '/bin'];

function findProgram(name: string, path = ''): string | undefined {
  return [...path.split(delimiter), ...SYSTEM_PROGRAMS]
    .filter((directory) => directory.startsWith('/'))
    .map((directory) => join(directory, name))
    .find((file) => mayAccess(file, constants.X_OK));
}

const MOST_OUTPUT = 64 * 1024 * 1024;

function toolOptions() {
  const path = [process.env['PATH'] ?? '', ...SYSTEM_PROGRAMS].join(delimiter);
  return {
    env: { ...process.env, LC_ALL: 'C', PATH: path },
    encoding: 'utf8',
    maxBuffer: MOST_OUTPUT,
  } as const;
}

/** Runs a program of a file system, such as btrfs(8). @throws AgtError with the first line of its errors */
export function runTool(program: string, args: readonly string[], cwd?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { ...toolOptions(), cwd }, (cause, stdout, stderr) => {
      if (cause === null) resolve(stdout);
      else reject(toolFailure(program, args, firstLine(stderr) ?? errorCode(cause), cause));
    });
  });
}

/** As runTool, where a function has to answer at once. A program that takes longer than `timeout` milliseconds is killed. */
export function runToolNow(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly timeout?: number } = {},
): string {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    ...{ ...toolOptions(), ...options },
    ...{ stdio: ['ignore', 'pipe', 'pipe'], killSignal: 'SIGKILL' },
  });
  if (status === 0) return stdout;
  const reason = error?.message ?? firstLine(stderr) ?? `it ended with ${signal ?? status}`;
  throw toolFailure(program, args, reason, error);
}

function firstLine(text: string): string | undefined {
  return text.split('\n').find((line) => line !== '');
}

function toolFailure(program: string, args: readonly string[], reason: string, cause: unknown): AgtError {
  return new AgtError(`${program} ${args.slice(0, 2).join(' ')} failed: ${reason}`, { cause });
}
