/**
 * `agt session export`: pushes the work branch, and nothing else. A commit that holds a whole session folder (`.env`
 * files, tokens, conversation logs) must never leave: each commit that would be new to the remote is looked at first.
 */
import { AgtError, EXIT, usageError } from '../../errors.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { gitAnswer, gitText, runGit } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionRecord } from '../record.ts';
import { requireSandbox, sandboxHead, uncommittedPaths } from '../sandbox.ts';

export interface ExportRequest {
  /** Branch name at the remote; by default that of the work branch. */
  readonly as: string | undefined;
  readonly remote: string | undefined;
  readonly dryRun: boolean;
  readonly allowDirty: boolean;
}

export interface Exported {
  readonly remote: string;
  readonly branch: string;
  readonly commit: string;
  /** Commits that the remote is not known to have. */
  readonly commits: number;
}

export async function exportSession(
  repository: Repository,
  record: SessionRecord,
  request: ExportRequest,
): Promise<Exported> {
  const commit = await exportableCommit(repository, record, request.allowDirty);
  const remote = request.remote ?? (await defaultRemote(repository, record));
  const remotes = (await gitText(repository.git, ['remote'])).split('\n');
  if (!remotes.includes(remote)) {
    throw usageError(
      `no remote '${remote}'`,
      `remotes here: ${remotes.filter(Boolean).join(', ') || 'none'}`,
    );
  }
  const branch = request.as ?? shortBranch(record.work_branch);
  await checkTarget(repository, branch);
  const fresh = await newCommits(repository, commit, remote);
  await refuseSessionTrees(repository, fresh);

  const options = request.dryRun ? ['--dry-run'] : [];
  const args = ['push', ...options, '--', remote, `${record.work_branch}:refs/heads/${branch}`];
  const run = await runGit(repository.git, args, { stderr: 'inherit', stdout: 'inherit', stdin: 'inherit' });
  if (run.exitCode !== 0) {
    throw new AgtError(`git push to '${remote}' failed, and nothing was exported`, {
      exitCode: run.exitCode,
      hints: [`export under another name: agt session export --session-id ${record.session_id} --as NAME`],
    });
  }
  return { remote, branch, commit, commits: fresh.length };
}

/** The work branch's tip, when it is what the sandbox shows and nothing is left uncommitted. */
async function exportableCommit(
  repository: Repository,
  record: SessionRecord,
  allowDirty: boolean,
): Promise<string> {
  requireSandbox(record);
  const id = record.session_id;
  const work = shortBranch(record.work_branch);
  const head = await sandboxHead(repository, record);
  if (head.ref === undefined) {
    throw new AgtError(`sandbox of "${id}" has a detached HEAD`, {
      hints: [
        `bring its commits onto the work branch: git switch ${work} && git merge ${head.commit ?? 'COMMIT'}`,
      ],
    });
  }
  if (head.commit === undefined) {
    throw new AgtError(`sandbox of "${id}" is on '${shortBranch(head.ref)}', which has no commits yet`, {
      hints: [`go back to the work branch: git switch ${work}`],
    });
  }
  if (head.ref !== record.work_branch) {
    throw new AgtError(
      `sandbox of "${id}" is on '${shortBranch(head.ref)}', not on its work branch '${work}'`,
      {
        hints: [`bring its commits over: git switch ${work} && git merge ${shortBranch(head.ref)}`],
      },
    );
  }
  const dirty = await uncommittedPaths(repository, record);
  if (dirty.length > 0 && !allowDirty) {
    const files = dirty.length === 1 ? '1 file' : `${dirty.length} files`;
    throw new AgtError(`sandbox of "${id}" has uncommitted changes (${files}: ${shorten(dirty)})`, {
      hints: ['commit them, or export what is committed with --allow-dirty'],
    });
  }
  return head.commit;
}

function shorten(paths: readonly string[]): string {
  return paths.length > 3 ? `${paths.slice(0, 3).join(', ')}, …` : paths.join(', ');
}

async function checkTarget(repository: Repository, branch: string): Promise<void> {
  if ((await gitAnswer(repository.git, ['check-ref-format', '--branch', branch])) === undefined) {
    throw usageError(`'${branch}' is not a valid branch name`, 'see git-check-ref-format(1)');
  }
  if (branch.startsWith(repository.settings.branchPrefix)) {
    throw usageError(
      `'${branch}' is among the shadow branches, which are never published`,
      'choose another name',
    );
  }
}

/** The remote that the user branch pushes or pulls from, or the only one, or origin. */
async function defaultRemote(repository: Repository, record: SessionRecord): Promise<string> {
  const user = record.user_branch === undefined ? undefined : shortBranch(record.user_branch);
  const keys = [
    ...(user === undefined ? [] : [`branch.${user}.pushRemote`]),
    'remote.pushDefault',
    ...(user === undefined ? [] : [`branch.${user}.remote`]),
  ];
  for (const key of keys) {
    const value = await gitAnswer(repository.git, ['config', '--get', key]);
    if (value && value !== '.') return value;
  }
  const remotes = (await gitText(repository.git, ['remote'])).split('\n').filter((name) => name !== '');
  if (remotes.length === 0) {
    throw new AgtError('this repository has no remote to export to', {
      hints: ['add one: git remote add origin URL'],
    });
  }
  return remotes.length === 1 ? (remotes[0] as string) : 'origin';
}

async function newCommits(repository: Repository, commit: string, remote: string): Promise<string[]> {
  const listed = await gitText(repository.git, ['rev-list', commit, '--not', `--remotes=${remote}`, '--']);
  return listed.split('\n').filter((line) => line !== '');
}

async function refuseSessionTrees(repository: Repository, commits: readonly string[]): Promise<void> {
  const input = commits.map((commit) => `${commit}:_/manifest.json\n${commit}:sandbox\n`).join('');
  if (input === '') return;
  const answers = (
    await gitText(repository.git, ['cat-file', '--batch-check=%(objecttype)'], { input })
  ).split('\n');
  const carrier = commits.find((_, i) => answers[2 * i] === 'blob' && answers[2 * i + 1] === 'tree');
  if (carrier === undefined) return;
  throw new AgtError(
    `commit ${carrier.slice(0, 12)} holds a whole session folder and must not be published`,
    {
      exitCode: EXIT.failed,
      hints: [
        'an autocommit was merged into the work branch; rebase it away: git rebase -i',
        `see it with: agt log --oneline --graph ${carrier.slice(0, 12)}`,
      ],
    },
  );
}
