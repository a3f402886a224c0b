/**
 * The life of a session as a table. A command that takes several steps writes its intent into the session's
 * metadata before the first step and clears it after the last. If agt is killed in between, the intent says
 * what to finish or to undo. `agt doctor` reads it (maintenance/doctor/unfinished-operations.ts).
 */

/** How a session ended: its folder is deleted, its snapshots are kept until `agt gc`. */
export const OUTCOMES = ['removed', 'accepted', 'rejected', 'reverted'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * `failed`: the folder is there, and agt could not record a step of the agent. `away`: the folder is there and is captured,
 * but the session goes on in another repository (travel/).
 */
export const SESSION_STATES = ['creating', 'active', 'failed', 'away', 'removing', ...OUTCOMES] as const;
export type SessionState = (typeof SESSION_STATES)[number];

/** Of a work branch, after the commit that the last snapshot knows. */
export interface LaterCommits {
  readonly head: string;
  readonly tip: string;
  readonly count: number;
}

export interface BranchMove {
  /** The branch; a full name. */
  readonly onto: string;
  /** The tip of the branch before. */
  readonly from: string;
  /** The tip afterwards; undefined as long as its commit does not exist. */
  readonly to?: string | undefined;
  /** The tree of that commit. */
  readonly tree: string;
  /** The worktree that has the branch checked out. It changes before the branch moves. */
  readonly worktree?: string | undefined;
  /** The session goes on afterwards. */
  readonly keep: boolean;
  /** A commit of the content of the sandbox. */
  readonly source?: string | undefined;
  /** Some of the session's work stays out. */
  readonly isPart?: boolean;
  /** All that the session has committed lands. */
  readonly hasCommits?: boolean | undefined;
  readonly present?: readonly Present[] | undefined;
  /** If there are some: the tree of `from` with these in it. */
  readonly base?: string;
}

/** A file that the user had written or deleted already as the move does it: agt changes only the index. */
export interface Present {
  /** One byte per character. */
  readonly path: string;
  /** `mode oid` in the index afterwards, and before; undefined for none. */
  readonly entry?: string | undefined;
  readonly was?: string | undefined;
}

export type Intent =
  | { readonly operation: 'create' }
  | {
      readonly operation: 'remove';
      /**
       * First agt moves the folder out of the way and captures what came meanwhile; then it deletes. In the user's own
       * checkout agt captures, then returns to the user's branch.
       */
      readonly phase?: 'moving' | 'returning' | 'deleting';
      /** Not all that was set aside could be put back. */
      readonly keepsStash?: true;
      /** The state afterwards; `removed` if there is none. */
      readonly outcome?: Outcome;
      readonly reason?: string;
    }
  | {
      readonly operation: 'restore';
      /** The commit of the snapshot. */
      readonly snapshot: string;
      /** Paths to restore, relative to the session folder, one byte per character. */
      readonly scope: readonly string[];
      /** The command. */
      readonly by: 'restore' | 'undo' | 'redo';
      /** The newest snapshot when the restore began. */
      readonly tip?: string;
      /** `agt session unaccept` has moved the branch back before. */
      readonly unaccepted?: BranchMove;
      /** Commits after the snapshot that come back, too. */
      readonly later?: LaterCommits;
      /** For the snapshot after it. */
      readonly label?: string;
      readonly undone?: readonly string[];
    }
  /** The work of the session goes onto a branch. */
  | ({ readonly operation: 'accept' } & BranchMove)
  /** It comes off the branch again. */
  | ({ readonly operation: 'unaccept' } & BranchMove)
  /** git merges or rebases in the sandbox. */
  | {
      readonly operation: 'sync';
      /** The snapshot before. */
      readonly snapshot: string;
    }
  /** `agt gc` deletes the snapshots of a removed session. */
  | { readonly operation: 'drop' };

export type Operation = Intent['operation'];

interface Transition {
  /** The states in which the operation may start; a session that is created has none yet. */
  readonly from: readonly SessionState[];
  readonly during: SessionState | 'same';
  /** `forgotten`: the metadata are deleted. */
  readonly after: SessionState | 'forgotten';
}

export const TRANSITIONS: Readonly<Record<Operation, Transition>> = {
  create: { from: [], during: 'creating', after: 'active' },
  restore: { from: ['active', 'failed', ...OUTCOMES], during: 'active', after: 'active' },
  remove: { from: ['active', 'failed', 'away'], during: 'removing', after: 'removed' },
  accept: { from: ['active', 'failed'], during: 'same', after: 'active' },
  unaccept: { from: ['active', 'failed', 'away', 'accepted'], during: 'same', after: 'active' },
  sync: { from: ['active', 'failed'], during: 'same', after: 'active' },
  drop: { from: OUTCOMES, during: 'same', after: 'forgotten' },
};

/** Its folder is deleted; its snapshots are kept. */
export function isEnded({ state }: { readonly state: SessionState }): boolean {
  return (OUTCOMES as readonly SessionState[]).includes(state);
}

/** For messages such as "agt did not finish creating it". */
export const GERUND: Readonly<Record<Operation, string>> = {
  create: 'creating',
  restore: 'restoring',
  remove: 'removing',
  accept: 'accepting',
  unaccept: 'taking back the acceptance of',
  sync: 'syncing',
  drop: 'dropping the snapshots of',
};
