/** HEAD of many sandboxes with its commit, read by one git (with reftables by two). */
import { basename } from 'node:path';
import { isReadableHead } from '../git/files/head-file.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { blockedWorktrees, parseWorktrees } from '../git/files/worktree-registrations.ts';
import type { Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import type { Repository } from '../repository/repository.ts';
import type { Refs } from './refs.ts';
import type { SandboxFacts } from './sandbox-facts.ts';

export interface Head {
  /** Short name; undefined if HEAD is detached or the sandbox is gone. */
  readonly branch: string | undefined;
  /** Without a sandbox, the tip of the work branch. Undefined if git does not have it. */
  readonly commit: string | undefined;
  /** The commits among those that the survey asked about. */
  readonly existing: ReadonlySet<string>;
}

export function readHeads(repository: Repository, facts: readonly SandboxFacts[], refs: Refs): Head[] {
  const unreadable = facts.filter((one) => one.gitDir !== undefined && refOf(one) === undefined);
  const isListable = unreadable.length > 0 && blockedWorktrees(repository.commonDir).length === 0;
  const branches = isListable ? branchesByWorktree(repository.git) : new Map();
  const named = facts.map((one) => nameHead(one, refs, branches));
  const questions = [
    ...named.flatMap(({ commit }) => (commit === undefined ? [] : [`${commit}^{commit}`])),
    ...facts.map(({ record }) => `${record.from_commit}^{commit}`),
  ];
  const answers = askAboutObjects(repository.git, questions);
  const existing = new Set(answers.values());
  return named.map(({ branch, commit }) => ({
    branch,
    commit: answers.get(`${commit}^{commit}`),
    existing,
  }));
}

function askAboutObjects(git: Git, questions: readonly string[]): Map<string, string> {
  const input = questions.map((question) => `${question}\n`).join('');
  const output = askGitSync(git, ['cat-file', '--batch-check=%(objectname)'], { input });
  const lines = output?.toString().split('\n') ?? [];
  const pairs = questions.map((question, i): [string, string] => [question, lines[i] ?? '']);
  return new Map(pairs.filter(([, answer]) => /^[0-9a-f]+$/.test(answer)));
}

interface NamedHead {
  readonly branch: string | undefined;
  /** An object name, or the name of HEAD as another worktree knows it. */
  readonly commit: string | undefined;
}

/** Undefined if only git can tell: in a repository with reftables, or if HEAD is a link. */
function refOf({ head }: SandboxFacts): string | undefined {
  if (head === undefined) return undefined;
  if ('commit' in head) return head.commit;
  return head.ref === 'refs/heads/.invalid' ? undefined : head.ref;
}

function nameHead(facts: SandboxFacts, refs: Refs, branches: ReadonlyMap<string, string>): NamedHead {
  const { record, gitDir } = facts;
  const work = refs.commits.get(record.work_branch)?.commit;
  if (gitDir === undefined) return { branch: undefined, commit: work };
  const ref = refOf(facts);
  // git would wait for a named pipe.
  if (ref === undefined && !isReadableHead(gitDir)) return { branch: undefined, commit: work };
  if (ref === undefined)
    return { branch: branches.get(record.sandbox), commit: `worktrees/${basename(gitDir)}/HEAD` };
  if (!ref.startsWith('refs/')) return { branch: undefined, commit: ref };
  return { branch: shortBranch(ref), commit: refs.commits.get(ref)?.commit ?? work };
}

/** Short names by the paths of the worktrees. */
function branchesByWorktree(git: Git): Map<string, string> {
  const listed = askGitSync(git, ['worktree', 'list', '--porcelain', '-z'])?.toString() ?? '';
  return new Map(
    parseWorktrees(listed).flatMap(({ path, branch }) =>
      branch === undefined ? [] : [[path, shortBranch(branch)]],
    ),
  );
}
