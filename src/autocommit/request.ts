/** What a capture is asked for. */

/** What is captured, and where it goes. Paths are absolute. */
export interface CaptureTarget {
  readonly sessionId: string;
  readonly folder: string;
  readonly sandbox: string;
  readonly commonDir: string;
  /** `<commonDir>/agt`. */
  readonly agtDir: string;
  readonly shadowRef: string;
  /** Where agt itself keeps the chain's end, whatever others do to the branch. */
  readonly tipRef: string;
  /** Undefined where the session was started from a detached HEAD. */
  readonly userRef: string | undefined;
  readonly startCommit: string;
}

export interface CaptureOptions {
  readonly agentEmail: string;
  /** Bytes. */
  readonly maxFileSize: number;
  readonly now: Date;
  /** Top-level folders to scan; the others keep their last state. */
  readonly siblings?: readonly string[];
  /** Unix seconds: files modified then or later are read again, whatever their stat data say. */
  readonly rereadSince?: number;
  readonly dryRun?: boolean;
  readonly label?: string;
  readonly tool?: string;
  /** The state that has just been brought back, and by which command. */
  readonly restored?: { readonly commit: string; readonly by: 'restore' | 'undo' | 'redo' };
  /** Commits that the new state has to keep reachable beside the sandbox's HEAD. */
  readonly keep?: readonly string[];
  /** The label is for a state that is captured anyway, and worth none of its own. */
  readonly onlyIfChanged?: boolean;
}
