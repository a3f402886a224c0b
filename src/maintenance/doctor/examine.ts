/**
 * What disagrees between metadata, branches, worktrees and folders, and how to mend it. Looks only; each finding names
 * the thing, what is wrong, and the command that puts it right. What can be mended without a decision has a `fix`.
 */

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isLocked } from '../../disk/lock.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { shortBranch } from '../../git/files/refnames.ts';
import {
  listWorktrees,
  unfinishedWorktrees,
  type WorktreeEntry,
} from '../../git/files/worktree-registrations.ts';
import { leftScratch } from '../../git/objects/scratch.ts';
import { gitAnswer, gitText, runGit } from '../../git/run/git.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { hideAgentRefs, missingHideRefs } from '../../repository/hide-refs.ts';
import { areaConfigFile, scratchDirectory, sessionLockFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureSession } from '../../session/capture-session.ts';
import { idProblem } from '../../session/id.ts';
import { withSessionLock } from '../../session/lock.ts';
import { listRecords, type SessionRecord, sessionFolder, tipRef } from '../../session/record.ts';
import type { Finding, FinishRestore } from './finding.ts';
import { finishDropping, finishRemoving, undoCreation } from './finish.ts';
import { findLeftovers } from './leftovers.ts';

export async function examine(repository: Repository, finishRestore: FinishRestore): Promise<Finding[]> {
  const unfinished = unfinishedWorktrees(repository.commonDir);
  // git may answer no questions until they are gone.
  if (unfinished.length > 0) return unfinished.map(describeUnfinished);
  const { records, damaged } = listRecords(repository);
  const worktrees = await listWorktrees(repository.git);
  const refs = new Set((await gitText(repository.git, ['for-each-ref', '--format=%(refname)'])).split('\n'));
  const findings: Finding[] = damaged.map(({ session_id, problem }) => ({
    level: 'error',
    about: session_id,
    problem,
    mend: `restore the file, or delete it: its states stay on ${repository.settings.branchPrefix}${session_id}`,
  }));
  for (const record of records)
    findings.push(...(await examineSession(repository, record, worktrees, refs, finishRestore)));
  const sessionsDir = await repository.sessionsDir();
  findings.push(...strayFolders(sessionsDir, records));
  findings.push(...strayRefs(repository, records, refs));
  findings.push(
    ...worktrees.flatMap((worktree) => examineWorktree(repository, worktree, records, sessionsDir)),
  );
  findings.push(...findLeftovers(repository, records, worktrees, sessionsDir));
  findings.push(...leftScratch(scratchDirectory(repository.agtDir)).map(describeScratch));
  if (records.length > 0) findings.push(...(await examineHideRefs(repository)));
  return findings;
}

function describeUnfinished(path: string): Finding {
  const problem = 'a worktree that a killed git left half registered, over which others fail';
  const mend = `rm -rf ${shellQuote(path)}`;
  return { level: 'error', about: path, problem, mend, fix: () => removeTree(path) };
}

async function examineSession(
  repository: Repository,
  record: SessionRecord,
  worktrees: readonly WorktreeEntry[],
  refs: ReadonlySet<string>,
  finishRestore: FinishRestore,
): Promise<Finding[]> {
  const about = record.session_id;
  if (isLocked(sessionLockFile(repository.agtDir, about))) return []; // what somebody works on is unfinished
  const again = `agt session remove --id ${about}`;
  if (record.state === 'creating') {
    return [
      {
        level: 'error',
        about,
        problem: 'was never finished being made',
        mend: `${again} --delete-branch --force`,
        fix: () => undoCreation(repository, record),
      },
    ];
  }
  if (record.state === 'removing') {
    const fix = () => finishRemoving(repository, record);
    return [{ level: 'error', about, problem: 'was never finished being removed', mend: again, fix }];
  }
  if (record.dropping === true) {
    const problem = 'its states were never finished being dropped';
    return [
      { level: 'error', about, problem, mend: 'agt gc', fix: () => finishDropping(repository, record) },
    ];
  }
  const findings: Finding[] = [];
  if (record.restoring !== undefined) {
    const isPart = record.restoring_scope?.some((path) => path.includes('/')) === true;
    const mend = isPart
      ? 'agt doctor --fix'
      : `agt session restore ${about} --to ${record.restoring.slice(0, 10)}`;
    const fix = () => finishRestore(repository, record);
    findings.push({ level: 'error', about, problem: 'was never finished being restored', mend, fix });
  }
  const missing = [record.branch, tipRef(about)].filter((ref) => !refs.has(ref));
  for (const ref of missing) {
    const kept = ref === record.branch ? tipRef(about) : record.branch;
    const mend =
      missing.length === 2
        ? 'its states are lost; look for them: agt git fsck --lost-found'
        : `agt git update-ref ${ref} ${kept}`;
    const fix = () =>
      gitText(repository.git, ['update-ref', ref, kept, '0'.repeat(record.from_commit.length)]);
    const finding = { level: 'error' as const, about, problem: `${shortBranch(ref)} is missing`, mend };
    findings.push(missing.length === 2 ? finding : { ...finding, fix });
  }
  if (missing.length === 0) findings.push(...(await examineTip(repository, record)));
  if (record.state === 'removed') return findings;

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
    const tip = await gitAnswer(repository.git, ['rev-parse', '--verify', '--quiet', tipRef(about)]);
    const mend = tip === record.from_commit ? again : `agt session restore ${about} --to @`;
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
    [record.branch, tip].map((ref) => gitAnswer(repository.git, ['rev-parse', '--verify', '--quiet', ref])),
  );
  if (branchOid === tipOid) return [];
  return [
    {
      level: 'warning',
      about,
      problem: `${shortBranch(record.branch)} was moved by something else than agt, which goes on from its own tip`,
      mend: `agt git update-ref ${record.branch} ${tip}`,
      // Keeps what was put there as a parent.
      ...(record.state === 'active'
        ? {
            fix: () =>
              withSessionLock(repository, about, () =>
                captureSession(repository, record, { now: new Date() }),
              ),
          }
        : {}),
    },
  ];
}

function strayFolders(sessionsDir: string, records: readonly SessionRecord[]): Finding[] {
  const known = new Set(records.map((record) => basename(sessionFolder(record))));
  const names = existsSync(sessionsDir) ? readdirSync(sessionsDir) : [];
  return names
    .filter((name) => idProblem(name) === undefined && !known.has(name))
    .map((name) => ({
      level: 'warning',
      about: name,
      problem: `a session folder without metadata: ${join(sessionsDir, name)}`,
      mend: 'look into it, and move it away',
    }));
}

function strayRefs(
  repository: Repository,
  records: readonly SessionRecord[],
  refs: ReadonlySet<string>,
): Finding[] {
  const own = new Set(
    records.flatMap((record) => [record.branch, record.work_branch, tipRef(record.session_id)]),
  );
  const prefixes = [repository.settings.branchPrefix, repository.settings.workPrefix].map(
    (prefix) => `refs/heads/${prefix}`,
  );
  return [...refs]
    .filter((ref) => [...prefixes, 'refs/agt/tip/'].some((prefix) => ref.startsWith(prefix)) && !own.has(ref))
    .map((ref) => ({
      level: 'note',
      about: shortBranch(ref),
      problem: 'a ref in a namespace of agt that belongs to no session here',
      mend: `keep it, or delete it: agt git update-ref -d ${ref}`,
    }));
}

function examineWorktree(
  repository: Repository,
  worktree: WorktreeEntry,
  records: readonly SessionRecord[],
  sessionsDir: string,
): Finding[] {
  const findings: Finding[] = [];
  if (worktree.prunable !== undefined) {
    const ours = worktree.path.startsWith(`${sessionsDir}/`);
    const wanted = records.some(({ sandbox, state }) => sandbox === worktree.path && state === 'active');
    // What was mended before may have done it already.
    const fix = () => runGit(repository.git, ['worktree', 'remove', '--force', '--force', worktree.path]);
    findings.push({
      level: 'note',
      about: worktree.path,
      problem: `worktree to prune: ${worktree.prunable}`,
      mend: 'agt git worktree prune',
      ...(ours && !wanted ? { fix } : {}),
    });
  }
  const inside = areaConfigFile(worktree.path);
  if (!worktree.bare && statSync(inside, { throwIfNoEntry: false })?.isFile()) {
    const problem = 'ignored: a configuration file inside a worktree is content that others can write';
    findings.push({ level: 'note', about: inside, problem, mend: 'set what you want with: agt config set' });
  }
  return findings;
}

function describeScratch(path: string): Finding {
  const problem = 'was left by a comparison that was killed; the next agt session diff removes it';
  const fix = () => rmSync(path, { recursive: true, force: true });
  return { level: 'note', about: path, problem, mend: `rm -r ${shellQuote(path)}`, fix };
}

async function examineHideRefs(repository: Repository): Promise<Finding[]> {
  const missing = await missingHideRefs(repository.git, repository.settings);
  if (missing.length === 0) return [];
  return [
    {
      level: 'warning',
      about: 'uploadpack.hideRefs',
      problem: `whoever fetches from this repository would receive ${missing.join(', ')}`,
      mend: missing.map((name) => `agt git config --add uploadpack.hideRefs ${name}`).join(' && '),
      fix: () => hideAgentRefs(repository),
    },
  ];
}
