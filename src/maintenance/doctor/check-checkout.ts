/** Checks whether the checkout of a session in place is where its metadata and git's links say, and connects it again. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { resolveObject } from '../../git/run/git.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { inPlaceFile } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { withSessionLock } from '../../session/lock.ts';
import type { SessionRecord } from '../../session/record.ts';
import { connectCheckout, findCheckoutAgain } from '../../session/relocate-checkout.ts';
import { type SandboxPlace, sandboxPlace } from '../../session/sandbox-place.ts';
import type { Finding } from './finding.ts';

export async function checkCheckout(
  repository: Repository,
  record: SessionRecord,
  checkout: string,
): Promise<Finding[]> {
  const { session_id: about } = record;
  const place = sandboxPlace(repository, record);
  if (place === 'here')
    return [...checkNote(repository, record, checkout), ...(await checkUserBranch(repository, record))];
  const found = await findCheckoutAgain(repository, record);
  const problem = describe(checkout, place, found?.checkout);
  if (found === undefined) return [{ level: 'error', about, problem, mend: advice(record, checkout, place) }];
  const fix = () =>
    withSessionLock(repository, about, async (session) => connectCheckout(session, record, found));
  return [{ level: 'error', about, problem, mend: 'agt doctor --fix', fix }];
}

/** Without its note, the guard does not know that the checkout belongs to a session. */
function checkNote(repository: Repository, record: SessionRecord, checkout: string): Finding[] {
  const { session_id: about, sandbox } = record;
  const noted = readSmallFile(inPlaceFile(gitDirOf(checkout) ?? join(checkout, '.git')));
  if (noted === about) return [];
  const problem = `git mode does not guard ${checkout}: the note that it belongs to this session is missing`;
  const fix = () =>
    withSessionLock(repository, about, async (session) =>
      connectCheckout(session, record, { checkout, sandbox }),
    );
  return [{ level: 'error', about, problem, mend: 'agt doctor --fix', fix }];
}

async function checkUserBranch(
  { git }: Repository,
  { session_id: about, user_branch: ref, from_commit: start }: SessionRecord,
): Promise<Finding[]> {
  if (ref === undefined || (await resolveObject(git, ref)) !== undefined) return [];
  const branch = shortBranch(ref);
  const problem = `${branch} is gone, the branch that the checkout returns to at its end`;
  const mend = `agt git branch ${shellQuote(branch)} ${start.slice(0, 10)}, or the commit that it had`;
  return [{ level: 'error', about, problem, mend }];
}

function describe(checkout: string, place: SandboxPlace, now: string | undefined): string {
  if (place === 'elsewhere')
    return `its checkout belongs to another repository, of which this one is a copy: ${checkout}`;
  if (now !== undefined && now !== checkout) return `its checkout has moved to ${now}`;
  if (now !== undefined) return `the link to its checkout is missing: ${checkout}`;
  return existsSync(checkout)
    ? `its checkout is no worktree of this repository any more: ${checkout}`
    : `its checkout is gone: ${checkout}`;
}

function advice({ session_id: id }: SessionRecord, checkout: string, place: SandboxPlace): string {
  if (place === 'elsewhere') return `go on from its last snapshot: agt session fork ${id}`;
  return existsSync(checkout)
    ? `agt git worktree repair ${shellQuote(checkout)}`
    : `agt session remove ${id}; its snapshots are kept`;
}
