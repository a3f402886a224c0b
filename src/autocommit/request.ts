/** The request for a capture: the folder, the refs and the options. */
import type { ToolCall } from '../snapshot/history.ts';
import type { IgnoredFiles } from './scan/scan-options.ts';
import type { Freeze } from './source.ts';

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

/** A folder of the user, with or without a repository of the user's. agt captures its files and nothing of git. */
export interface AttachedFolder {
  /** The commit of the user's HEAD; undefined if there is none. git has been started when the function returns. */
  readonly readHead: () => Promise<string | undefined>;
  /** The files that git ignores there. git has been started when the function returns, too. */
  readonly readIgnored: (request: IgnoredRequest) => Promise<IgnoredFiles>;
}

export interface IgnoredRequest {
  /** Files to take all the same; relative to the session folder, one byte per character. */
  readonly alsoTake: readonly string[];
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
  readonly dryRun?: boolean;
  readonly label?: string | undefined;
  readonly tool?: string | undefined;
  /** A call of the tool, which the snapshot records: a reason for a commit, even if nothing changed. */
  readonly call?: ToolCall;
  /** The snapshot that the folder has just been restored to, and the command that did it. */
  readonly restored?: { readonly commit: string; readonly by: 'restore' | 'undo' | 'redo' };
  /** The snapshot that an unfinished restore goes to: the folder is between two snapshots. */
  readonly unfinished?: string;
  /** Commits that the snapshot must keep reachable, beside the sandbox's HEAD. */
  readonly keep?: readonly string[];
  /** The folder is no worktree any more. Nobody may capture it, but its files can be compared. */
  readonly filesOnly?: boolean;
  /** Take also the files that git ignores; for an attached folder. */
  readonly withIgnored?: boolean;
  /** Take these files, even if git ignores them; for an attached folder. */
  readonly alsoTake?: readonly string[];
  /** The agent and its conversation, for an attached folder, which has no session of one agent. */
  readonly agent?: string | undefined;
  readonly conversation?: string | undefined;
  /** Label and call alone are no reason for a commit. */
  readonly onlyIfChanged?: boolean;
}
