/** The request for a capture: the folder, the refs and the options. */
import type { GitDirectories } from '../git/files/discover-repository.ts';
import type { ScratchObjects } from '../git/objects/scratch-objects.ts';
import type { GitDirFiles } from '../snapshot/git-dir-files.ts';
import type { ToolCall } from '../snapshot/history.ts';
import type { IgnoredFiles } from './scan/scan-options.ts';
import type { Freeze } from './source.ts';
import type { NewerPaths } from './stat-cache/refresh.ts';

/** Paths are absolute. */
export interface CaptureTarget {
  readonly sessionId: string;
  readonly folder: string;
  readonly sandbox: string;
  /** The user's own checkout, if the sandbox is a link to it. */
  readonly checkout?: string | undefined;
  /** The registration of the sandbox in the repository, if no `.git` file leads there any more. */
  readonly lostGitDir?: string | undefined;
  readonly commonDir: string;
  /** `<commonDir>/agt`. */
  readonly agtDir: string;
  readonly shadowRef: string;
  /** agt's own ref for the last shadow commit, which nobody else moves. */
  readonly tipRef: string;
  readonly workRef: string;
  /** Undefined if the session was started from a detached HEAD. */
  readonly userRef: string | undefined;
  readonly startCommit: string;
  /** The checkout is a folder that agt only captures. */
  readonly attached?: AttachedFolder | undefined;
  /** Undefined if no provider can freeze the folder. */
  readonly freeze?: Freeze | undefined;
}

/** A folder of the user, with or without a repository of the user's. */
export interface AttachedFolder {
  /** Undefined without a repository. */
  readonly readGit: () => Promise<UserRepository | undefined>;
  /** Whether the folder had a repository, and has none any more. */
  readonly hasLostGit: () => boolean;
  /** Keeps what the state of the repository names, if it has changed, and the repositories inside. Returns warnings. */
  readonly keepGit: (repository: UserRepository | undefined, inside: readonly string[]) => string[];
  /** The files that git ignores there. git has been started when the function returns. */
  readonly readIgnored: (request: IgnoredRequest) => Promise<IgnoredFiles>;
}

/** The user's repository, as a capture of an attached folder sees it. */
export interface UserRepository extends GitDirectories {
  /** The commit of HEAD; undefined before the first one. */
  readonly head: string | undefined;
  readonly files: GitDirFiles;
}

export interface IgnoredRequest {
  /** Files to take all the same; relative to the session folder, one byte per character. */
  readonly alsoTake: readonly string[];
  /** Also a few small ones, as the settings say. */
  readonly takesSmall: boolean;
  /** Repositories in the folder that the last capture found. Each has its own rules. */
  readonly nested: readonly string[];
}

export interface CaptureOptions {
  readonly agentEmail: string;
  /** In bytes. */
  readonly maxFileSize: number;
  readonly now: Date;
  /** The top-level folders to scan; the others stay as in the last snapshot. */
  readonly siblings?: readonly string[] | undefined;
  /** Unix seconds: files modified then or later are read, even if they look unchanged. */
  readonly rereadSince?: number | undefined;
  /** Paths known to be newer than the last scan; undefined if nobody knows. Asked once, after the scan began. */
  readonly newerPaths?: (() => NewerPaths | undefined) | undefined;
  readonly dryRun?: boolean;
  /** Gets the snapshot of a dry run. No ref leads to it. */
  readonly scratch?: ScratchObjects;
  readonly label?: string | undefined;
  readonly tool?: string | undefined;
  /** A call of the tool, which the snapshot records: a reason for a commit, even if nothing changed. */
  readonly call?: ToolCall;
  /** The call of a tool that is about to begin: the changes are not its work. */
  readonly before?: { readonly tool: string; readonly id?: string | undefined };
  /** The session whose agent has made the call: this folder is not where it works. */
  readonly bySession?: string | undefined;
  /** The snapshot that the folder has just been restored to, and the command that did it. */
  readonly restored?: {
    readonly commit: string;
    readonly by: 'restore' | 'undo' | 'redo';
    /** Snapshots before the changes that an undo of one thing has taken back. */
    readonly undone?: readonly string[] | undefined;
  };
  /** The snapshot that an unfinished restore goes to: the folder is between two snapshots. */
  readonly unfinished?: string | undefined;
  /** Commits that the snapshot must keep reachable, beside the sandbox's HEAD. */
  readonly keep?: readonly string[];
  /** The folder is no worktree any more. Nobody may capture it, but its files can be compared. */
  readonly filesOnly?: boolean;
  /** Take also the files that git ignores; for an attached folder. */
  readonly withIgnored?: boolean;
  /** Take these files, even if git ignores them; for an attached folder. */
  readonly alsoTake?: readonly string[];
  /** The agent, or the program of `agt run`, and its conversation: a session may have several. */
  readonly agent?: string | undefined;
  readonly conversation?: string | undefined;
  /** Conversations that are in the middle of a call (session/calls-at-work.ts). */
  readonly during?: () => readonly string[];
  /** Label, call and restore alone are no reason for a commit, unless the last snapshot is within the call. */
  readonly onlyIfChanged?: boolean;
}
