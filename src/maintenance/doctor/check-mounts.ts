/** Mounted snapshots whose server has ended, and what killed agts left of others. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { listMounts } from '../../disk/mounts.ts';
import { errorCode } from '../../errors.ts';
import { mountedRef } from '../../filter/agent-refs.ts';
import { runGit } from '../../git/run/git.ts';
import { endMount, unmount } from '../../lifecycle/mounted/end-mount.ts';
import {
  listMountRecords,
  type MountRecord,
  mountState,
  repositoryOfSource,
} from '../../lifecycle/mounted/mount-record.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import type { Repository } from '../../repository/repository.ts';
import { MOUNT_TYPE } from '../../snapshot/folders.ts';
import type { Finding } from './finding.ts';

/** `refs`: the full names of all refs. */
export function checkMounts(repository: Repository, refs: ReadonlySet<string>): Finding[] {
  const records = listMountRecords(repository.agtDir);
  const named = new Set(records.map(({ name }) => mountedRef(name)));
  // Each keeps a snapshot that nothing else may keep. A session that names it still has its own refs.
  const left = [...refs.difference(named)].filter((ref) => ref.startsWith(mountedRef('')));
  const ofRefs = left.map((about): Finding => {
    const fix = () => runGit(repository.git, ['update-ref', '-d', about]);
    const problem = 'this ref keeps a snapshot that is no longer mounted';
    return { level: 'note', about, problem, mend: `agt git update-ref -d ${about}`, fix };
  });
  return [...records.flatMap((record) => checkMount(repository, record)), ...ofRefs];
}

function checkMount(repository: Repository, record: MountRecord): Finding[] {
  const { directory: about, session, way } = record;
  const state = mountState(repository.agtDir, record);
  if (state === 'serving' || state === 'making') return [];
  const fix = () => endMount(repository, record);
  const mend = `agt session umount ${shellQuote(about)}`;
  if (state === 'gone') {
    const problem = `a snapshot of session "${session}" is no longer mounted here`;
    return [{ level: 'note', about, problem, mend, fix }];
  }
  const problem =
    way === 'copy'
      ? `a killed agt did not finish this copy of a snapshot of session "${session}"`
      : `the process that served this snapshot of session "${session}" has ended`;
  return [{ level: way === 'copy' ? 'note' : 'error', about, problem, mend, fix }];
}

/** A file system that answers takes a millisecond. */
const LONGEST_ANSWER_MS = 1_000;

/** Dead mounts whose repository is gone. The doctor of a repository finds its own. */
export async function checkForeignMounts(): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { type, point, source } of listMounts()) {
    const repository = type === MOUNT_TYPE ? repositoryOfSource(source) : undefined;
    if (repository === undefined || existsSync(repository) || !(await isDead(point))) continue;
    const problem = `a snapshot of the repository ${repository}, which is gone, and its server has ended`;
    const mend = `agt session umount ${shellQuote(point)}`;
    findings.push({ level: 'error', about: point, problem, mend, fix: () => unmount(point, true) });
  }
  return findings;
}

async function isDead(point: string): Promise<boolean> {
  const answer = statfs(point).then(
    () => false,
    (error: unknown) => ['ENOTCONN', 'ECONNABORTED'].includes(errorCode(error)),
  );
  return Promise.race([answer, sleep(LONGEST_ANSWER_MS, false)]);
}
