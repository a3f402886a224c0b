/** The words that the parts of an acceptance share. */
import type { Settings } from '../config/settings.ts';
import type { AgtError } from '../errors.ts';
import type { DiffEntry, ShownChange } from '../git/objects/raw-diff.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import type { Present } from '../session/state.ts';
import type { MessageRequest } from './message.ts';
import type { LandingTarget } from './target.ts';
import type { Workbench } from './workbench.ts';

/** Of the sandbox. */
export interface Content {
  readonly head: string;
  readonly tree: string;
  /** The tree with uncommitted work, if `tree` may lack it; undefined if nobody has read it. */
  readonly whole?: string;
}

export interface ChosenTree {
  readonly tree: string;
  /** Those that it comes from. */
  readonly prompts: readonly string[];
  /** They asked for more. */
  readonly isPart: boolean;
}

export interface AcceptRequest extends MessageRequest {
  /** The branch that takes the work; undefined: the user branch. */
  readonly onto: string | undefined;
  readonly edit: boolean;
  /** Merge the commits of the agent instead of making one of them. */
  readonly keepCommits: boolean;
  /** Take only these commits and snapshots, each as a commit of its own. */
  readonly commits: readonly string[];
  /** Globs of paths. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly committedOnly: boolean;
  /** Whether untracked files land; undefined: as the setting says. */
  readonly untracked: Settings['untracked'] | undefined;
  /** Asks a person; undefined if nobody can answer. */
  readonly askUntracked:
    | ((files: readonly UntrackedFile[], hasCommits: boolean) => Promise<'all' | 'none'>)
    | undefined;
  /** Take also the changes of tool calls that failed. */
  readonly withFailed: boolean;
  /** The session goes on. */
  readonly keep: boolean;
  /** Finds what is to land in place of the whole content. `from`: the branch. */
  readonly chooseTree?: (
    bench: Workbench,
    content: Content,
    merge: { readonly base: string; readonly from: string },
  ) => Promise<ChosenTree>;
  /** The tree without the hunks that a person has rejected: so many. */
  readonly withoutRejected?: (
    session: Session,
    bench: Workbench,
    content: Content,
  ) => Promise<{
    readonly tree: string;
    readonly rejected: number;
    readonly warnings: readonly string[];
    /** Numbers of the turns that wrote the lines between two trees. */
    readonly turnsBetween: (from: string, to: string) => Promise<ReadonlySet<number>>;
  }>;
  /** @throws AgtError if the branch would get rejected hunks. `from`: the branch as it is; `tree`: as it would be. */
  readonly refuseRejected?: (
    session: Session,
    bench: Workbench,
    content: Content & { readonly from: string },
  ) => Promise<void>;
  /** Run the hooks that can refuse. */
  readonly verify: boolean;
  /** Milliseconds to wait for another process that works on the session. */
  readonly waitMs: number;
  readonly dryRun: boolean;
  /** In a dry run of several sessions: those that would have landed before. */
  readonly planned?: Planned[];
  readonly now: Date;
}

interface Planned {
  readonly session: Session;
  readonly newer: ReadonlySet<string>;
}

export interface UntrackedFile {
  /** Readable. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Why it looks as if it should not land. */
  readonly doubt: string | undefined;
}

export interface NamedCommit {
  readonly commit: string;
  readonly subject: string;
}

/** A session's work on its way. */
export interface Landable {
  readonly target: LandingTarget;
  readonly bench: Workbench;
  readonly request: AcceptRequest;
  /** Readable paths in the sandbox that have changed since the last snapshot. */
  readonly newer: ReadonlySet<string>;
}

export interface LandingChange extends LandingTarget {
  readonly changes: readonly DiffEntry[];
  /** The same for a person. */
  readonly shown: readonly ShownChange[];
  /** New files that the sandbox does not track, one byte per character; undefined if agt was killed since. */
  readonly untracked?: readonly string[];
  /** Changed paths that stay out, readable. */
  readonly leftOut: readonly string[];
  /** Paths that stay out because git ignores them, readable; undefined if agt was killed since. */
  readonly ignored?: readonly string[];
  /** With `--commits`: those that stay out. */
  readonly leftOutCommits?: readonly NamedCommit[];
  /** The whole content of the sandbox has more than what a person has chosen of it. */
  readonly hasRest?: boolean;
  /** All that the session has committed lands. */
  readonly hasCommits?: boolean;
  /** Before hooks and editor; undefined if the commits keep theirs, or agt was killed since. */
  readonly message: string | undefined;
  readonly warnings: readonly string[];
}

/** How the branch is to change. */
export interface LandingPlan extends LandingChange {
  /** The tree of the branch afterwards. */
  readonly tree: string;
  readonly parents: readonly string[];
  /** The last of the commits that are made already. */
  readonly commit: string | undefined;
  readonly present?: readonly Present[] | undefined;
  /** A commit of the content of the sandbox; undefined if the branch gets that commit, or only some of its work. */
  readonly source: string | undefined;
}

/** Before anybody sees it. */
export type NewPlan = Omit<LandingPlan, 'shown'>;

/** The branch has moved. */
export interface Landing extends LandingChange {
  readonly record: SessionRecord;
  readonly commit: string;
  /** When the branch moved; missing if an earlier agt has moved it. */
  readonly at?: Date | undefined;
}

export interface AcceptResult extends LandingChange {
  readonly record: SessionRecord;
  /** Undefined in a dry run. */
  readonly commit: string | undefined;
  /** In a dry run: the sessions that have to land before. */
  readonly after?: readonly string[];
  /** In a dry run that keeps the commits: those that would land, as `git log --oneline` shows them. */
  readonly merged?: readonly string[];
  /** The session has not ended. */
  readonly kept: boolean;
  /** The session has ended, but the user's own work could not be put back. */
  readonly trouble?: AgtError | undefined;
}
