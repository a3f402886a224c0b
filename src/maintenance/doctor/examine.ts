/**
 * What disagrees between metadata, branches, worktrees and folders, and how to mend it. Looks only; each finding names
 * the thing, what is wrong, and the command that puts it right. What can be mended without a decision has a `fix`.
 */

import { rmSync, statSync } from 'node:fs';
import { removeTree } from '../../disk/remove-tree.ts';
import {
  listWorktrees,
  unfinishedWorktrees,
  type WorktreeEntry,
} from '../../git/files/worktree-registrations.ts';
import { abandonedScratch } from '../../git/objects/scratch-objects.ts';
import { gitText, runGit } from '../../git/run/git.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { hideFromFetch, missingHideRefs } from '../../repository/hidden-from-fetch.ts';
import { areaConfigFile, scratchDirectory } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';
import { isActive } from '../../session/state.ts';
import { examineSession } from './examine-session.ts';
import type { Finding, FinishRestore } from './finding.ts';
import { findLeftovers } from './leftovers.ts';
import { strayFolders, strayRefs } from './strays.ts';

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
  findings.push(...abandonedScratch(scratchDirectory(repository.agtDir)).map(describeScratch));
  if (records.length > 0) findings.push(...(await examineHideRefs(repository)));
  return findings;
}

function describeUnfinished(path: string): Finding {
  const problem = 'a worktree that a killed git left half registered, over which others fail';
  const mend = `rm -rf ${shellQuote(path)}`;
  return { level: 'error', about: path, problem, mend, fix: () => removeTree(path) };
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
    const wanted = records.some(({ sandbox, ...session }) => sandbox === worktree.path && isActive(session));
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
      fix: () => hideFromFetch(repository),
    },
  ];
}
