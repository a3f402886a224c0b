/** Collects what `session list`, `session show` and `status` report about a session. */
import { readTimestamp } from '../autocommit/timestamp.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { gitText } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { readHistory } from '../snapshot/history.ts';
import { type SessionRecord, sessionFolder, snapshotRefs } from './record.ts';
import { sandboxHead } from './sandbox.ts';
import { sandboxExists } from './sandbox-place.ts';

export interface SessionStatus {
  readonly record: SessionRecord;
  readonly folder: string;
  readonly sandboxPresent: boolean;
  /** Short name of the branch in the sandbox; undefined if HEAD is detached or the sandbox is gone. */
  readonly head: string | undefined;
  readonly headCommit: string | undefined;
  /** Commits of HEAD that the user branch, or the start commit, does not have; undefined if git cannot tell. */
  readonly ahead: number | undefined;
  readonly autocommits: number;
  readonly lastAutocommit: { readonly commit: string; readonly time: Date } | undefined;
  /** The last time that agt captured everything or found nothing changed. */
  readonly lastComplete: Date | undefined;
}

export async function readSessionStatus(
  repository: Repository,
  record: SessionRecord,
): Promise<SessionStatus> {
  const sandboxPresent = sandboxExists(repository, record);
  const head = sandboxPresent ? await sandboxHead(repository, record) : { ref: undefined, commit: undefined };
  const branches = await readBranches(repository, record);
  const headCommit = head.commit ?? branches.work?.commit;
  const autocommits = await countAutocommits(repository, record);
  return {
    record,
    folder: sessionFolder(record),
    sandboxPresent,
    head: head.ref === undefined ? undefined : shortBranch(head.ref),
    headCommit,
    ahead: headCommit === undefined ? undefined : await countAhead(repository, record, headCommit),
    autocommits,
    lastAutocommit: autocommits === 0 ? undefined : branches.shadow,
    lastComplete: readTimestamp(repository.agtDir, record.session_id),
  };
}

async function countAhead(
  repository: Repository,
  { user_branch, from_commit }: SessionRecord,
  headCommit: string,
): Promise<number | undefined> {
  const ofUser =
    user_branch === undefined ? undefined : await countCommits(repository, headCommit, `^${user_branch}`);
  return ofUser ?? countCommits(repository, headCommit, `^${from_commit}`);
}

async function readBranches({ git }: Repository, record: SessionRecord) {
  const format = '--format=%(refname) %(objectname) %(committerdate:unix)';
  const output = await gitText(git, ['for-each-ref', format, '--', record.branch, record.work_branch]);
  const lines = output.split('\n').map((line) => line.split(' '));
  const find = (ref: string) => {
    const [, commit, seconds] = lines.find(([name]) => name === ref) ?? [];
    return commit === undefined ? undefined : { commit, time: new Date(Number(seconds) * 1000) };
  };
  return { work: find(record.work_branch), shadow: find(record.branch) };
}

/** Counts the autocommits since the start commit, in a fork also those before the fork. */
async function countAutocommits(repository: Repository, record: SessionRecord): Promise<number> {
  const author = `--author=<${repository.settings.agentEmail}>`;
  const count = (...excluded: string[]) =>
    countCommits(
      repository,
      '--first-parent',
      '--fixed-strings',
      author,
      record.branch,
      '--not',
      record.from_commit,
      ...excluded,
    );
  const excluded = record.user_branch === undefined ? [] : [record.user_branch];
  return (
    (await count(...excluded)) ??
    (await count()) ??
    (await readHistory(repository.git, snapshotRefs(record))).length
  );
}

/** Undefined if git cannot read one of the branches. */
async function countCommits({ git }: Repository, ...args: string[]): Promise<number | undefined> {
  try {
    return Number(await gitText(git, ['rev-list', '--count', ...args, '--']));
  } catch {
    return undefined;
  }
}
