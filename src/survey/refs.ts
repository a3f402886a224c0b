/** The refs that a survey of sessions needs, read by one git. */
import { branchNamespaces } from '../filter/agent-refs.ts';
import { askGitSync } from '../git/run/run-sync.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from '../session/record.ts';
import { homePatterns } from './merged.ts';

export interface Tip {
  readonly commit: string;
  readonly time: Date;
}

export interface Refs {
  readonly commits: ReadonlyMap<string, Tip>;
  /** The commits of the refs that match a pattern with at most one star. */
  readonly matching: (pattern: string) => string[];
}

/** `others` are full names of further refs. */
export function readRefs(
  { git, prefixes }: Repository,
  records: readonly SessionRecord[],
  others: readonly string[],
): Refs {
  const namespaces = branchNamespaces(prefixes);
  const isOutside = (ref: string) => !namespaces.some((namespace) => ref.startsWith(namespace));
  const named = records.flatMap(({ branch, work_branch, user_branch }) => [
    branch,
    work_branch,
    user_branch ?? branch,
  ]);
  const patterns = new Set([
    ...namespaces,
    ...[...named, ...others].filter(isOutside),
    ...records.flatMap(homePatterns),
  ]);
  const format = '--format=%(refname) %(objectname) %(committerdate:unix)';
  const output = askGitSync(git, ['for-each-ref', format, '--', ...patterns])?.toString() ?? '';
  const commits = new Map<string, Tip>();
  for (const line of output.split('\n')) {
    const [ref = '', commit, seconds] = line.split(' ');
    if (commit !== undefined && seconds) commits.set(ref, { commit, time: new Date(Number(seconds) * 1000) });
  }
  const matching = (pattern: string) => {
    const [start = '', end] = pattern.split('*');
    const isMatch = (ref: string) =>
      end === undefined ? ref === start : ref.startsWith(start) && ref.endsWith(end);
    return [...commits].filter(([ref]) => isMatch(ref)).map(([, { commit }]) => commit);
  };
  return { commits, matching };
}
