/** Why the work of a session does not land. */
import { AgtError, plural, SOME, someLines, type WayOut } from '../errors.ts';
import { shortBranch, shortOid } from '../git/files/ref-files.ts';
import type { Git } from '../git/run/git.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { isPartElsewhere } from '../session/landings.ts';
import type { SessionRecord } from '../session/record.ts';
import { readCommitGraph } from '../survey/commit-graph.ts';
import { revertsSince } from '../survey/landed.ts';
import { revertsOfMerged } from '../survey/reverts.ts';
import type { AcceptRequest } from './accept-request.ts';
import { type LandingTarget, syncWith } from './target.ts';
import type { Conflict } from './workbench.ts';

/** The same command once more: a hint adds an option. */
export function acceptAgain(id: string, request: AcceptRequest): string {
  const { chooseTree, keep, onto, keepCommits, committedOnly, withFailed, verify } = request;
  const { untracked, exclude, include, commits, text, summary } = request;
  const paragraphs = text?.trim().split(/\n\n+/) ?? [];
  const options = [
    chooseTree !== undefined ? '--seen' : keep && '--keep',
    ...optionsOf('onto', onto ?? []),
    keepCommits && '--keep-commits',
    committedOnly && '--committed-only',
    withFailed && '--with-failed',
    !verify && '--no-verify',
    untracked === 'all' && '--untracked=all',
    ...optionsOf('commits', commits),
    ...optionsOf('include', include),
    ...optionsOf('exclude', exclude),
    ...optionsOf('message', paragraphs),
    ...optionsOf('summary', summary ?? []),
  ];
  return ['agt accept', id, ...options.filter(Boolean)].join(' ');
}

/** A value may begin with a hyphen. */
function optionsOf(name: string, values: string | readonly string[]): string[] {
  return [values].flat().map((value) => `--${name}=${shellQuote(value)}`);
}

/**
 * Each path alone: it may look like a pattern, and a name without a slash would be one in every directory. Of many, their
 * folders.
 */
export function excluding(paths: readonly string[]): string[] {
  const folders = [/(?<=\/)[^/]+$/, /(?<=\/).*$/s].map((rest) => paths.map((path) => path.replace(rest, '')));
  const lists = [paths, ...folders].map((list) => [...new Set(list)]);
  return (lists.find(({ length }) => length <= SOME) ?? paths).map((path) => {
    const anchor = /\/./.test(path) ? '' : '/';
    return `--exclude=${anchor}${path.replace(/[\\*?[\]{}()!+@|^$]/g, '\\$&')}`;
  });
}

/** The same command without these paths. `given`: in place of one option for each. */
export function wayWithout(
  id: string,
  request: AcceptRequest,
  paths: readonly string[],
  given?: readonly string[],
): WayOut {
  const words = given ?? excluding(paths);
  const isOfFolders = given === undefined && words.length < paths.length;
  const hint = `leave ${isOfFolders ? 'their folders' : 'them'} out: ${acceptAgain(id, request)} ${words.map(shellQuote).join(' ')}`;
  return { does: 'Leave these files out', words, hint };
}

/** Conflicts and files that a message lists. */
export const LISTED = 20;

export function conflictError(
  { session_id: id }: SessionRecord,
  { onto }: LandingTarget,
  conflicts: readonly Conflict[],
  ways: readonly string[],
): AgtError {
  const branch = shortBranch(onto);
  const files = plural(conflicts.length, 'file');
  const lines = conflicts.map(({ path, kind }) => `${path}: ${kind}`);
  return new AgtError(`session "${id}" conflicts with "${branch}" in ${files}, and nothing has changed`, {
    hints: [...someLines(lines, LISTED), ...ways],
  });
}

/** `hasDropped`: its work begins with commits that the branch lacks. `isSynced`: it has those of the branch. */
export function solveInSandbox(
  record: SessionRecord,
  { onto }: LandingTarget,
  { hasDropped = false, isSynced = false } = {},
): string {
  if (hasDropped && (isSynced || onto !== record.user_branch))
    return `it builds on commits that "${shortBranch(onto)}" lacks; bring them along: --keep-commits, or leave files out: --exclude`;
  return `solve the conflicts in the sandbox: ${syncWith(record, onto, hasDropped)}`;
}

export function nothing(why: string, ...hints: string[]): AgtError {
  return new AgtError(`nothing to accept: ${why}`, { hints });
}

/** `starts`: where its work begins, and what syncs have brought. */
export function nothingToAccept(
  git: Git,
  record: SessionRecord,
  { onto, from: tip }: LandingTarget,
  { head, starts }: { readonly head: string; readonly starts: readonly string[] },
): AgtError {
  const { session_id: id, landed, work_branch: work } = record;
  const branch = shortBranch(onto);
  const ofMerge = () => {
    const graph = readCommitGraph(git, [tip, head, ...starts]);
    return [...revertsOfMerged(git, graph, [{ tip, head, starts }]).values()];
  };
  const reverts = landed ? revertsSince(git, tip, landed) : ofMerge();
  if (reverts.length > 0)
    return nothing(
      `"${branch}" has all commits of session "${id}", and has reverted work of it`,
      `to land that again, on "${branch}": git revert ${reverts.map((one) => shortOid(one)).join(' ')}`,
    );
  if (isPartElsewhere(record, onto))
    return nothing(
      `"${branch}" has all work of session "${id}", apart from what was left out there`,
      `to land some of that: --commits COMMIT; see: agt log ${branch}..${shortBranch(work)}`,
    );
  const end = `end the session: agt session remove ${id}`;
  return nothing(`"${branch}" has all work of session "${id}"`, end);
}

/** A hook, a signature or a lock was in the way. */
export function notCommitted({ session_id: id, sandbox }: SessionRecord, operation: string): AgtError {
  const goOn = operation === 'merge' ? 'commit' : 'rebase --continue';
  return new AgtError(`git did not finish the ${operation} in the sandbox of "${id}", without a conflict`, {
    hints: [`go on: git -C ${sandbox} ${goOn}`, `or go back: agt undo ${id}`],
  });
}

export function nothingSeen({ session_id: id }: SessionRecord): AgtError {
  return new AgtError(`nothing of session "${id}" was seen that could land`, {
    hints: [`look at it first: agt review ${id}`],
  });
}
