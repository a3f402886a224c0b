/** The answers of git about the refs, HEADs and snapshots of many sessions: one process for each question. */
import { basename } from 'node:path';
import { branchNamespaces, shadowNamespaces } from '../filter/agent-refs.ts';
import { isReadableHead } from '../git/files/head-file.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { blockedWorktrees, parseWorktrees } from '../git/files/worktree-registrations.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import { asLines, type Git } from '../git/run/git.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from '../session/record.ts';
import type { Comparison } from './commit-graph.ts';
import { homePatterns, remoteBranches } from './merged.ts';
import type { SandboxFacts } from './sandbox-facts.ts';

export interface Tip {
  readonly commit: string;
  readonly time: Date;
}

export interface Refs {
  readonly commits: ReadonlyMap<string, Tip>;
  /** The refs that match a pattern with at most one star, each after its commit. */
  readonly matching: (pattern: string) => [commit: string, ref: string][];
}

/** `others` are full names of further refs. */
export function readRefs(
  { git, prefixes }: Repository,
  records: readonly SessionRecord[],
  others: readonly string[],
): Refs {
  const namespaces = branchNamespaces(prefixes);
  const isOutside = (ref: string) => !namespaces.some((namespace) => ref.startsWith(namespace));
  const named = records.flatMap((one) => [one.branch, one.work_branch, one.user_branch ?? one.branch]);
  const outside = [...named, ...others].filter(isOutside);
  const homes = [...records.flatMap(homePatterns), ...others.map(remoteBranches)];
  const patterns = new Set([...namespaces, ...outside, ...homes]);
  const format = '--format=%(refname) %(objectname) %(committerdate:unix)';
  const output = askGitSync(git, ['for-each-ref', format, '--', ...patterns])?.toString() ?? '';
  const commits = new Map<string, Tip>();
  for (const line of output.split('\n')) {
    const [ref = '', commit, seconds] = line.split(' ');
    if (commit !== undefined && seconds) commits.set(ref, { commit, time: new Date(Number(seconds) * 1000) });
  }
  const matching: Refs['matching'] = (pattern) => {
    const [start = '', end] = pattern.split('*');
    const isMatch = (ref: string) =>
      end === undefined ? ref === start : ref.startsWith(start) && ref.endsWith(end);
    return [...commits].filter(([ref]) => isMatch(ref)).map(([ref, { commit }]) => [commit, ref]);
  };
  return { commits, matching };
}

/** By session id. Only commits by agt's author count. */
export function countSnapshots(
  { git, settings }: Repository,
  chains: ReturnType<typeof chainOf>,
): Map<string, number> {
  const tips = chains.flatMap(({ tip, ends }) => [tip, ...ends.map((oid) => `^${oid}`)]);
  const options = ['--no-show-signature', '--no-mailmap', '--format=%H %ae %P'];
  const input = asLines(new Set(tips));
  const output =
    askGitSync(git, ['log', '--first-parent', ...options, '--stdin'], { input })?.toString() ?? '';
  const parents = new Map<string, string | undefined>();
  for (const line of output.split('\n')) {
    const [commit = '', author, parent] = line.split(' ');
    if (author === settings.agentEmail) parents.set(commit, parent);
  }
  return new Map(
    chains.map(({ session, tip }) => {
      let count = 0;
      for (let at: string | undefined = tip; at !== undefined && parents.has(at); at = parents.get(at))
        count++;
      return [session, count];
    }),
  );
}

export interface Head {
  /** Short name; undefined if HEAD is detached or the sandbox is gone. */
  readonly branch: string | undefined;
  /** Without a sandbox, the tip of the work branch. Undefined if git does not have it. */
  readonly commit: string | undefined;
  /** The commits among those that the survey asked about. */
  readonly existing: ReadonlySet<string | undefined>;
}

export async function readHeads(
  repository: Repository,
  facts: readonly SandboxFacts[],
  refs: Refs,
): Promise<Head[]> {
  const unreadable = facts.filter((one) => one.gitDir !== undefined && refOf(one) === undefined);
  const isListable = unreadable.length > 0 && blockedWorktrees(repository.commonDir).length === 0;
  const branches = isListable ? branchesByWorktree(repository.git) : new Map();
  const named = facts.map((one) => nameHead(one, refs, branches));
  const more = facts.flatMap(({ record, starts, merging = [] }) => [record.from_commit, ...starts, merging]);
  const names = [...named.map(({ commit = '' }) => commit), ...more.flat()].map((name) => `${name}^{commit}`);
  const found = (await findObjects(repository.git, names)).map((object) => object?.oid);
  const existing = new Set(found);
  return named.map(({ branch }, i) => ({ branch, commit: found[i], existing }));
}

/** Undefined if only git can tell: in a repository with reftables, or if HEAD is a link. */
function refOf({ head }: SandboxFacts): string | undefined {
  if (head === undefined) return undefined;
  if (head.commit !== undefined) return head.commit;
  return head.ref === 'refs/heads/.invalid' ? undefined : head.ref;
}

/** `commit`: an object name, or the name of HEAD as another worktree knows it. */
function nameHead(facts: SandboxFacts, refs: Refs, branches: ReadonlyMap<string, string>) {
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

/** The snapshots of a session, for `countSnapshots`. `ends`: commits at which they end. */
export function chainOf({ facts, head, base }: Pick<Ahead, 'facts' | 'head' | 'base'>, refs: Refs) {
  const { session_id: session, branch, from_commit: start } = facts.record;
  const tip = refs.commits.get(branch)?.commit;
  const ends = [...(head.existing.has(start) ? [start] : []), ...(base === undefined ? [] : [base])];
  return tip === undefined ? [] : [{ session, tip, ends }];
}

interface Ahead {
  readonly facts: Pick<SandboxFacts, 'record'>;
  readonly comparison: Comparison | undefined;
  readonly head: Head;
  readonly base: string | undefined;
}

/** The heads whose commits remote-tracking branches have, those of work branches included. */
export function findExported({ git, prefixes }: Repository, compared: readonly Ahead[]): ReadonlySet<string> {
  const open = compared.filter(({ comparison }) => (comparison?.ahead.length ?? 0) > 0);
  const heads = new Set(open.flatMap(({ head }) => head.commit ?? []));
  if (heads.size === 0) return heads;
  const bases = new Set(open.flatMap(({ base }) => (base === undefined ? [] : [`^${base}`])));
  const shadows = shadowNamespaces(prefixes).map((namespace) => `--exclude=*/${shortBranch(namespace)}*`);
  const onRemote = (commits: ReadonlySet<string>, known: ReadonlySet<string>) => {
    if (commits.size === 0) return commits;
    const args = ['rev-list', ...commits, ...known, '--not', ...shadows, '--remotes', '--'];
    return commits.difference(new Set(askGitSync(git, args)?.toString().split('\n') ?? commits));
  };
  // The branch of another session may have such a commit, which spares git the whole history.
  return onRemote(onRemote(heads, bases), new Set());
}
