/** Checks one session: its intent, its refs, its sandbox. */
import { existsSync } from 'node:fs';
import { isLocked } from '../../disk/lock.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import type { WorktreeEntry } from '../../git/files/worktree-registrations.ts';
import { gitText, resolveObject } from '../../git/run/git.ts';
import { sessionLockFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureSession } from '../../session/capture-session.ts';
import { withSessionLock } from '../../session/lock.ts';
import { type SessionRecord, tipRef } from '../../session/record.ts';
import { isActive, isRemoved } from '../../session/state.ts';
import type { Finding, FinishRestore } from './finding.ts';
import { examineIntent } from './unfinished.ts';

export async function examineSession(
  repository: Repository,
  record: SessionRecord,
  worktrees: readonly WorktreeEntry[],
  refs: ReadonlySet<string>,
  finishRestore: FinishRestore,
): Promise<Finding[]> {
  const about = record.session_id;
  if (isLocked(sessionLockFile(repository.agtDir, about))) return []; // another process works on it
  const { findings, examineRest } = examineIntent(repository, record, finishRestore);
  return examineRest
    ? [
        ...findings,
        ...(await examineRefs(repository, record, refs)),
        ...(await examineSandbox(repository, record, worktrees, refs)),
      ]
    : findings;
}

/** The shadow branch and agt's own tip. */
async function examineRefs(
  repository: Repository,
  record: SessionRecord,
  refs: ReadonlySet<string>,
): Promise<Finding[]> {
  const about = record.session_id;
  const missing = [record.branch, tipRef(about)].filter((ref) => !refs.has(ref));
  if (missing.length === 0) return examineTip(repository, record);
  return missing.map((ref) => {
    const kept = ref === record.branch ? tipRef(about) : record.branch;
    const mend =
      missing.length === 2
        ? 'its states are lost; look for them: agt git fsck --lost-found'
        : `agt git update-ref ${ref} ${kept}`;
    const fix = () =>
      gitText(repository.git, ['update-ref', ref, kept, '0'.repeat(record.from_commit.length)]);
    const finding = { level: 'error' as const, about, problem: `${shortBranch(ref)} is missing`, mend };
    return missing.length === 2 ? finding : { ...finding, fix };
  });
}

async function examineSandbox(
  repository: Repository,
  record: SessionRecord,
  worktrees: readonly WorktreeEntry[],
  refs: ReadonlySet<string>,
): Promise<Finding[]> {
  if (isRemoved(record)) return [];
  const about = record.session_id;
  const findings: Finding[] = [];
  if (!refs.has(record.work_branch)) {
    const mend = `agt git branch ${shortBranch(record.work_branch)} ${record.branch}^3`;
    findings.push({
      level: 'warning',
      about,
      problem: `${shortBranch(record.work_branch)} is missing`,
      mend,
    });
  }
  const registered = worktrees.some((worktree) => worktree.path === record.sandbox);
  if (!existsSync(record.sandbox)) {
    const tip = await resolveObject(repository.git, tipRef(about));
    const mend =
      tip === record.from_commit ? `agt session remove --id ${about}` : `agt session restore ${about} --to @`;
    findings.push({ level: 'error', about, problem: `its sandbox is gone: ${record.sandbox}`, mend });
  } else if (!registered) {
    const mend = `agt git worktree repair ${record.sandbox}`;
    const fix = () => gitText(repository.git, ['worktree', 'repair', record.sandbox]);
    const problem = 'its sandbox is no worktree of this repository';
    findings.push({ level: 'error', about, problem, mend, fix });
  }
  return findings;
}

async function examineTip(repository: Repository, record: SessionRecord): Promise<Finding[]> {
  const about = record.session_id;
  const tip = tipRef(about);
  const [branchOid, tipOid] = await Promise.all(
    [record.branch, tip].map((ref) => resolveObject(repository.git, ref)),
  );
  if (branchOid === tipOid) return [];
  return [
    {
      level: 'warning',
      about,
      problem: `${shortBranch(record.branch)} was moved by something else than agt, which goes on from its own tip`,
      mend: `agt git update-ref ${record.branch} ${tip}`,
      // Keeps what was put there as a parent.
      ...(isActive(record)
        ? {
            fix: () =>
              withSessionLock(repository, about, (session) =>
                captureSession(session, record, { now: new Date() }),
              ),
          }
        : {}),
    },
  ];
}
