import type { Git } from '../git/git.ts';
export interface CaptureTarget {
  readonly sessionId: string;
  readonly folder: string; // absolute; sessions/<id>
  readonly sandbox: string; // absolute; usually <folder>/sandbox
  readonly commonDir: string; // absolute git common dir
  readonly stateDir: string; // <commonDir>/agt
  readonly shadowRef: string; // refs/heads/agtsessions/<id>
  readonly tipRef: string; // refs/agt/tip/<id>
  readonly userRef: string | undefined; // refs/heads/main; undefined when started from a detached commit → second parent = start commit
  readonly startCommit: string;
}
export interface CaptureOptions {
  readonly agentEmail: string;
  readonly maxFileSize: number;
  readonly now: Date;
  readonly siblings?: readonly string[];
  readonly rereadSince?: number;
  readonly dryRun?: boolean;
  readonly label?: string;
  readonly tool?: string;
  readonly restored?: string;
}
export interface CaptureResult {
  readonly outcome: 'committed' | 'unchanged' | 'would-commit';
  readonly commit: string | undefined; // new commit, or the current tip when unchanged
  readonly changes: readonly { path: string; kind: 'added' | 'changed' | 'deleted' | 'mode' }[]; // paths relative to the session folder, latin1-safe/UTF-8 display form documented
  readonly skipped: readonly { path: string; reason: string }[];
  readonly warnings: readonly string[];
}
export async function capture(
  _git: Git,
  _target: CaptureTarget,
  _options: CaptureOptions,
): Promise<CaptureResult> {
  return { outcome: 'unchanged', commit: undefined, changes: [], skipped: [], warnings: [] };
}
