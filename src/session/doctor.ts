/**
 * What disagrees between metadata, branches, worktrees and folders, and how to mend it. Looks only; each finding names
 * the thing, what is wrong, and the command that puts it right.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gitAnswer, gitText } from '../git/git.ts';
import { leftScratch } from '../git/scratch.ts';
import { missingHideRefs } from './hidden-from-fetch.ts';
import { idProblem } from './id.ts';
import { listRecords, type SessionRecord, sessionFolder, shortBranch, tipRef } from './record.ts';
import type { Repository } from './repository.ts';
import { listWorktrees, type WorktreeEntry } from './worktrees.ts';

export interface Finding {
  readonly level: 'error' | 'warning' | 'note';
  /** The session, file or setting that it is about. */
  readonly about: string;
  readonly problem: string;
  readonly mend: string;
}

export async function examine(repository: Repository): Promise<Finding[]> {
  const { records, damaged } = listRecords(repository);
  const worktrees = await listWorktrees(repository.git);
  const refs = new Set((await gitText(repository.git, ['for-each-ref', '--format=%(refname)'])).split('\n'));
  const findings: Finding[] = damaged.map(({ session_id, problem }) => ({
    level: 'error',
    about: session_id,
    problem,
    mend: `restore the file, or delete it: its states stay on ${repository.settings.branchPrefix}${session_id}`,
  }));
  for (const record of records) findings.push(...(await examineSession(repository, record, worktrees, refs)));
  findings.push(...strayFolders(await repository.sessionsDir(), records));
  findings.push(...strayRefs(repository, records, refs));
  findings.push(...worktrees.flatMap(examineWorktree));
  findings.push(...leftScratch(repository.stateDir).map(describeScratch));
  if (records.length > 0) findings.push(...(await examineHideRefs(repository)));
  return findings;
}

async function examineSession(
  repository: Repository,
  record: SessionRecord,
  worktrees: readonly WorktreeEntry[],
  refs: ReadonlySet<string>,
): Promise<Finding[]> {
  const about = record.session_id;
  const again = `agt session remove --id ${about}`;
  if (record.state === 'creating') {
    return [
      {
        level: 'error',
        about,
        problem: 'was never finished being made',
        mend: `${again} --delete-branch --force`,
      },
    ];
  }
  if (record.state === 'removing') {
    return [{ level: 'error', about, problem: 'was never finished being removed', mend: again }];
  }
  if (record.dropping === true) {
    return [
      { level: 'error', about, problem: 'its states were never finished being dropped', mend: 'agt gc' },
    ];
  }
  const findings: Finding[] = [];
  if (record.restoring !== undefined) {
    const mend = `agt session restore ${about} --to ${record.restoring.slice(0, 10)}`;
    findings.push({ level: 'error', about, problem: 'was never finished being restored', mend });
  }
  const missing = [record.branch, tipRef(about)].filter((ref) => !refs.has(ref));
  for (const ref of missing) {
    const kept = ref === record.branch ? tipRef(about) : record.branch;
    const mend =
      missing.length === 2
        ? 'its states are lost; look for them: agt git fsck --lost-found'
        : `agt git update-ref ${ref} ${kept}`;
    findings.push({ level: 'error', about, problem: `${shortBranch(ref)} is missing`, mend });
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
    findings.push({ level: 'error', about, problem: 'its sandbox is no worktree of this repository', mend });
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

function examineWorktree(worktree: WorktreeEntry): Finding[] {
  const findings: Finding[] = [];
  if (worktree.prunable !== undefined) {
    const mend = 'agt git worktree prune';
    findings.push({
      level: 'note',
      about: worktree.path,
      problem: `worktree to prune: ${worktree.prunable}`,
      mend,
    });
  }
  const inside = join(worktree.path, '.agt', 'config');
  if (!worktree.bare && statSync(inside, { throwIfNoEntry: false })?.isFile()) {
    const problem = 'ignored: a configuration file inside a worktree is content that others can write';
    findings.push({ level: 'note', about: inside, problem, mend: 'set what you want with: agt config set' });
  }
  return findings;
}

function describeScratch(path: string): Finding {
  const problem = 'was left by a comparison that was killed; the next agt session diff removes it';
  return { level: 'note', about: path, problem, mend: `rm -r ${path}` };
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
    },
  ];
}
