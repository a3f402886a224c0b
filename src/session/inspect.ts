/** What `session list`, `session show` and `status` say of a session: its metadata and what git knows of it now. */
import { readTimestamp } from '../autocommit/timestamp.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { gitText } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, sessionFolder } from './record.ts';
import { sandboxHead, sandboxIsThere } from './sandbox.ts';

export interface SessionView {
  readonly record: SessionRecord;
  readonly folder: string;
  readonly sandboxPresent: boolean;
  /** Short name of the branch in the sandbox; undefined where HEAD is detached or the sandbox is gone. */
  readonly head: string | undefined;
  readonly headCommit: string | undefined;
  /** Commits on the work branch that the user branch does not have. */
  readonly ahead: number | undefined;
  readonly autocommits: number;
  readonly lastAutocommit: { readonly commit: string; readonly at: Date } | undefined;
  /** When everything was captured, or found unchanged, the last time. */
  readonly lastComplete: Date | undefined;
}

export async function viewSession(repository: Repository, record: SessionRecord): Promise<SessionView> {
  const present = sandboxIsThere(record);
  const head = present ? await sandboxHead(repository, record) : { ref: undefined, commit: undefined };
  const branches = await readBranches(repository, record);
  return {
    record,
    folder: sessionFolder(record),
    sandboxPresent: present,
    head: head.ref === undefined ? undefined : shortBranch(head.ref),
    headCommit: head.commit ?? branches.work,
    ...branches,
    lastComplete: readTimestamp(repository.agtDir, record.session_id),
  };
}

async function readBranches(repository: Repository, record: SessionRecord) {
  const { git } = repository;
  const range = record.user_branch === undefined ? record.from_commit : record.user_branch;
  const counted = async (...args: string[]) => {
    try {
      return Number(await gitText(git, ['rev-list', '--count', ...args, '--']));
    } catch {
      return undefined; // one of the branches is gone
    }
  };
  const refs = await gitText(git, [
    'for-each-ref',
    '--format=%(refname) %(objectname) %(committerdate:unix)',
    '--',
    record.branch,
    record.work_branch,
  ]);
  const lines = refs.split('\n').map((line) => line.split(' '));
  const find = (ref: string) => lines.find(([name]) => name === ref);
  const shadow = find(record.branch);
  const author = `--author=<${repository.settings.agentEmail}>`;
  const known = [record.from_commit, ...(record.user_branch === undefined ? [] : [record.user_branch])];
  // Down to the start commit, which is no autocommit; a fork's chain goes on into the session that it came from.
  const autocommits =
    (await counted('--first-parent', '--fixed-strings', author, record.branch, '--not', ...known)) ??
    (await counted(
      '--first-parent',
      '--fixed-strings',
      author,
      record.branch,
      '--not',
      record.from_commit,
    )) ??
    0;
  return {
    work: find(record.work_branch)?.[1],
    ahead: await counted(record.work_branch, `^${range}`),
    autocommits,
    lastAutocommit:
      shadow === undefined || autocommits === 0
        ? undefined
        : { commit: shadow[1] ?? '', at: new Date(Number(shadow[2]) * 1000) },
  };
}
