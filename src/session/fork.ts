/**
 * `agt session fork`: a new session that goes on from the whole state of another one. The other session is captured
 * first, and its state is written into the new folder from that capture, so that both are the same moment.
 */
import { AgtError } from '../errors.ts';
import { gitText, inDirectory, runGit } from '../git/git.ts';
import { autocommit } from './autocommit.ts';
import { checkOutState } from './checkout/checkout.ts';
import { restoreIndex } from './checkout/sandbox-state.ts';
import { createSession } from './create.ts';
import { checkId, generateId } from './id.ts';
import { type SessionRecord, sessionFolder } from './record.ts';
import type { Repository } from './repository.ts';
import { sandboxHead } from './sandbox.ts';

export interface ForkRequest {
  readonly id: string | undefined;
  readonly now: Date;
}

export interface Forked {
  readonly record: SessionRecord;
  readonly warnings: string[];
}

export async function forkSession(
  repository: Repository,
  source: SessionRecord,
  request: ForkRequest,
): Promise<Forked> {
  const id = request.id === undefined ? generateId(request.now) : checkId(request.id);
  const captured = await autocommit(repository, source, { now: request.now, label: `before fork to ${id}` });
  if (captured.commit === undefined)
    throw new AgtError(`session "${source.session_id}" has no state to fork`);
  const state = captured.commit;
  const head = await sandboxHead(repository, source);
  const workCommit = await gitText(repository.git, [
    'rev-parse',
    '--verify',
    `${source.work_branch}^{commit}`,
  ]);
  const warnings = [
    ...captured.warnings,
    ...captured.skipped.map(({ path, reason }) => `not in the fork: ${path}: ${reason}`),
    ...captured.failed.map(({ path, reason }) => `in the fork as it last was, if at all: ${path}: ${reason}`),
  ];
  const record = await createSession(repository, {
    id,
    workCommit,
    shadowCommit: state,
    userBranch: source.user_branch,
    from: source.session_id,
    fromSpec: state,
    profile: source.profile,
    now: request.now,
    checkOut: false,
    showProgress: false,
    fill: async (fork) => {
      const written = await checkOutState(repository.git, state, sessionFolder(fork));
      await restoreIndex(repository.git, written, fork.sandbox);
      if (head.ref !== source.work_branch && head.commit !== undefined) {
        await runGit(inDirectory(repository.git, fork.sandbox), [
          'update-ref',
          '--no-deref',
          'HEAD',
          head.commit,
        ]);
        warnings.push(`HEAD is detached at ${head.commit.slice(0, 10)}, where it is in the other session`);
      }
    },
  });
  return { record, warnings };
}
