/**
 * git's own commands, 2.39 to 2.55, and what git mode does with each. The rules, the guard and the shim take their
 * lists of commands from these rows; to add a rule or a guarded command, write its function and name it in one row.
 *
 * A name without a row may be an alias. git ignores an alias with the name of one of its own commands.
 */
import { type CommandLine, SHELL_ALIAS } from './command-line/parse.ts';
import * as atRisk from './guard/at-risk.ts';
import { branch, tag } from './rules/branch-and-tag.ts';
import { describe, nameRev } from './rules/describe.ts';
import { fetch, lsRemote, remote } from './rules/fetch.ts';
import { forEachRef, refs, showRef } from './rules/for-each-ref.ts';
import { pull } from './rules/pull.ts';
import { push } from './rules/push.ts';
import { rebase } from './rules/rebase.ts';
import type { Rule } from './rules/rule.ts';
import { showBranch } from './rules/show-branch.ts';
import * as walks from './rules/walks.ts';
import { worktree } from './rules/worktree.ts';

export interface Command {
  /** Other arguments, with which git leaves out what is hidden. Without a rule no argument could do that. */
  readonly rule?: Rule;
  /** Whether the command can destroy work with these arguments. In a sandbox the guard then captures the session first. */
  readonly destroys?: atRisk.DestroysWork;
  /** The commits that it can leave without a ref. The guard keeps them reachable. */
  readonly commitsAtRisk?: atRisk.CommitsAtRisk;
  /** It sends refs to others. When git mode fails, it refuses to run the command, so that no hidden refs are sent. */
  readonly publishes?: true;
  /** The action of the shim, if shimAction() cannot derive it from the other columns. */
  readonly shim?: ShimAction;
}

/**
 * - `git`: becomes real git.
 * - `git first`: the same, and the shim tests for it first, because it is called so often.
 * - `guard`: starts agt in a session folder, and becomes real git elsewhere.
 * - `guard amend`: the same for a line with --amend, and becomes real git otherwise, which it tests for early.
 * - `ref sets`: becomes real git unless an option names a set of refs, such as --all.
 * - `walk`: the same, but adds excludes for a set, and starts agt if agents' commits are in a visible history.
 * - `decorate`: as `walk`, with decoration options.
 * - `list`: adds patterns for a list of all refs.
 * - `transfer`: adds negative refspecs to a usual fetch; a push of named refs becomes real git.
 * - `agt`: starts agt in every repository with anything of agt's.
 */
export type ShimAction =
  | 'git'
  | 'git first'
  | 'guard'
  | 'guard amend'
  | 'ref sets'
  | 'walk'
  | 'decorate'
  | 'list'
  | 'transfer'
  | 'agt';

export function shimAction({ rule, destroys, shim }: Command): ShimAction {
  if (shim !== undefined) return shim;
  if (rule !== undefined) return 'agt';
  return destroys === undefined ? 'git' : 'guard';
}

/** Whether the shim needs the facts that git mode leaves for it. */
export function usesFacts(command: Command): boolean {
  return ['walk', 'decorate', 'list', 'transfer'].includes(shimAction(command));
}

const TABLE: Readonly<Record<string, Command>> = {
  // Called most often, the most frequent first
  status: { shim: 'git first' },
  diff: { shim: 'git first' },
  add: { shim: 'git first' },
  commit: { destroys: atRisk.commit, shim: 'guard amend' },
  'ls-files': { shim: 'git first' },
  'symbolic-ref': { shim: 'git first' },
  'cat-file': { shim: 'git first' },
  config: { shim: 'git first' },
  'merge-base': { shim: 'git first' },

  // Show or send refs and commits
  branch: { rule: branch, destroys: atRisk.branch, commitsAtRisk: atRisk.namedBranches, shim: 'list' },
  bundle: { rule: walks.bundle, publishes: true },
  describe: { rule: describe },
  'rev-parse': { rule: walks.revParse, shim: 'ref sets' },
  'fast-export': { rule: walks.fastExport, publishes: true, shim: 'ref sets' },
  'format-patch': { rule: walks.formatPatch, shim: 'ref sets' },
  fetch: {
    rule: fetch,
    destroys: atRisk.fetch,
    commitsAtRisk: atRisk.targetsOfRefspecs,
    shim: 'transfer',
  },
  'for-each-ref': { rule: forEachRef, shim: 'list' },
  log: { rule: walks.log, shim: 'decorate' },
  show: { rule: walks.show, shim: 'decorate' },
  whatchanged: { rule: walks.log, shim: 'decorate' },
  'ls-remote': { rule: lsRemote },
  'name-rev': { rule: nameRev },
  pull: {
    rule: pull,
    destroys: atRisk.always,
    commitsAtRisk: atRisk.targetsOfRefspecs,
    shim: 'transfer',
  },
  push: {
    rule: push,
    destroys: atRisk.push,
    commitsAtRisk: atRisk.targetsOfRefspecs,
    publishes: true,
    shim: 'transfer',
  },
  rebase: { rule: rebase, destroys: atRisk.steps, commitsAtRisk: atRisk.rebasedBranch },
  reflog: { rule: walks.reflog, destroys: atRisk.reflog, commitsAtRisk: atRisk.onlyInReflogs },
  refs: { rule: refs },
  remote: { rule: remote },
  repo: { rule: walks.repo },
  'rev-list': { rule: walks.revList, shim: 'walk' },
  shortlog: { rule: walks.shortlog, shim: 'walk' },
  'show-branch': { rule: showBranch },
  'show-ref': { rule: showRef },
  tag: { rule: tag, destroys: atRisk.tag, commitsAtRisk: atRisk.namedTags, shim: 'list' },
  worktree: { rule: worktree, destroys: atRisk.worktree, commitsAtRisk: atRisk.reusedBranch },

  // Can destroy work, and show nothing that is hidden
  reset: { destroys: atRisk.reset },
  clean: { destroys: atRisk.clean },
  checkout: { destroys: atRisk.checkout, commitsAtRisk: atRisk.reusedBranch },
  switch: { destroys: atRisk.switchBranch, commitsAtRisk: atRisk.reusedBranch },
  restore: { destroys: atRisk.restore },
  stash: { destroys: atRisk.stash, commitsAtRisk: atRisk.stashEntries },
  merge: { destroys: atRisk.merge },
  'cherry-pick': { destroys: atRisk.steps },
  revert: { destroys: atRisk.steps },
  am: { destroys: atRisk.steps },
  rm: { destroys: atRisk.rm },
  mv: { destroys: atRisk.mv },
  'checkout-index': { destroys: atRisk.checkoutIndex },
  'read-tree': { destroys: atRisk.readTree },
  'sparse-checkout': { destroys: atRisk.sparseCheckout },
  submodule: { destroys: atRisk.submodule },
  bisect: { destroys: atRisk.bisect },
  gc: { destroys: atRisk.gc, commitsAtRisk: atRisk.onlyInReflogs },
  prune: { destroys: atRisk.prune, commitsAtRisk: atRisk.onlyInReflogs },
  apply: { destroys: atRisk.apply },
  'merge-file': { destroys: atRisk.mergeFile },
  'update-ref': { destroys: atRisk.always, commitsAtRisk: atRisk.firstNamedRef },
  // So rare that the shim has no word for it.
  'filter-branch': {
    rule: walks.filterBranch,
    destroys: atRisk.always,
    commitsAtRisk: atRisk.onlyInReflogs,
    shim: 'agt',
  },

  // Plumbing: git gets the line as it is. With --all or --mirror it sends hidden refs too.
  'send-pack': { publishes: true },
};

/** git gets their lines as they are. */
const THE_REST = `
  annotate archive backfill bisect--helper blame bugreport check-attr check-ignore check-mailmap
  check-ref-format checkout--worker cherry clone column commit-graph commit-tree count-objects
  credential credential-cache credential-cache--daemon credential-store diagnose diff-files diff-index
  diff-pairs diff-tree difftool env--helper fast-import fetch-pack fmt-merge-msg for-each-repo
  format-rev fsck fsck-objects fsmonitor--daemon get-tar-commit-id grep hash-object help history hook
  index-pack init init-db interpret-trailers last-modified ls-tree mailinfo mailsplit maintenance
  merge-index merge-ours merge-recursive merge-recursive-ours merge-recursive-theirs merge-subtree
  merge-tree mktag mktree multi-pack-index notes pack-objects pack-redundant pack-refs patch-id pickaxe
  prune-packed range-diff receive-pack remote-ext remote-fd repack replace replay rerere show-index
  stage stripspace submodule--helper unpack-file unpack-objects update-index update-server-info
  upload-archive upload-archive--writer upload-pack url-parse var verify-commit verify-pack verify-tag
  version write-tree`;

export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ...Object.entries(TABLE),
  ...THE_REST.trim()
    .split(/\s+/)
    .map((name): [string, Command] => [name, {}]),
]);

export function isDestructive({ command, args }: CommandLine): boolean {
  if (command === SHELL_ALIAS) return namesDestructiveCommand(args[0] ?? '');
  return !args.includes('-h') && (COMMANDS.get(command)?.destroys?.(args) ?? false);
}

/** A shell alias runs any command: its text is searched for the names. */
function namesDestructiveCommand(text: string): boolean {
  const names = [...COMMANDS].filter(([, { destroys }]) => destroys !== undefined).map(([name]) => name);
  return new RegExp(`(?<![\\w-])(?:${names.join('|')})(?![\\w-])`).test(text);
}
