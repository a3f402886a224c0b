/**
 * git rebase. With rebase.updateRefs or --update-refs, git moves every branch that points to a rebased commit, and takes
 * no exceptions. So agt filters the list of steps. git gives that list to an editor only if the rebase is
 * interactive; the rule makes others interactive, and switches off what else git would then do differently.
 *
 * The rule changes nothing unless a hidden branch points to a commit that would be rebased.
 *
 * Limits: in such a rebase, "… is up to date, rebase forced." is missing, and if the user's editor fails, git's message
 * names agt's filter.
 */
import { HEADS } from '../../git/files/ref-files.ts';
import {
  hasOption,
  lastOption,
  optionTable,
  type ParsedOptions,
  parseOptions,
} from '../command-line/options.ts';
import { configValue, isConfigTrue, namespacesUnder, type View } from '../view/view.ts';
import type { Rule } from './rule.ts';

const REBASE_OPTIONS = optionTable(`
  onto= keep-base no-verify verify q|quiet v|verbose n|no-stat stat signoff committer-date-is-author-date
  reset-author-date ignore-date C= ignore-whitespace whitespace= f|force-rebase no-ff ff !continue !skip !abort !quit
  !edit-todo !show-current-patch !apply m|merge i|interactive p|preserve-merges rerere-autoupdate !empty= k|keep-empty
  autosquash update-refs S|gpg-sign? autostash x|exec= allow-empty-message r|rebase-merges? fork-point s|strategy=
  X|strategy-option= root reschedule-failed-exec reapply-cherry-picks trailer=`);

const UNDER_WAY = ['continue', 'skip', 'abort', 'quit', 'edit-todo', 'show-current-patch'];
/** These need the backend that moves no other branches; git refuses them with --update-refs. */
const APPLY = ['apply', 'C', 'whitespace'];
/** These need the backend that does, whatever rebase.backend says. */
const MERGE =
  `merge interactive empty keep-empty no-keep-empty reapply-cherry-picks exec strategy strategy-option root
  rebase-merges`.split(/\s+/);
const MERGE_SINCE_2_40 = ['update-refs', 'no-reapply-cherry-picks', 'autosquash', 'trailer'];

export const rebase: Rule = (args, view) => {
  if (namespacesUnder(view, HEADS).length === 0) return undefined;
  const parsed = parseOptions(args, REBASE_OPTIONS);
  if (parsed === undefined || hasOption(parsed, ...UNDER_WAY) || !updatesRefs(parsed, view)) return undefined;
  const range = rebasedRange(parsed, view);
  if (range === undefined) return undefined;
  // git itself leaves those that a worktree has checked out.
  const excluded = range.upstream === undefined ? [] : [`--no-merged=${range.upstream}`];
  const hidden = hiddenBranchesIn([`--merged=${range.head}`, ...excluded], view);
  if (hidden.length === 0) return undefined;
  if (hasOption(parsed, 'interactive')) {
    const editor = sequenceEditor(view);
    return editor === undefined ? undefined : { env: filterTodoList(hidden, editor), args };
  }
  if (isUpToDate(range, parsed, view)) return undefined;
  const squash = hasOption(parsed, 'autosquash') && view.gitIsAtLeast(2, 44) ? [] : ['--no-autosquash'];
  const empty = hasOption(parsed, 'exec') ? '--empty=keep' : '--empty=drop';
  return {
    config: ['advice.waitingForEditor=false'],
    env: filterTodoList(hidden, NO_EDITOR),
    args: ['--interactive', empty, ...parsed.optionWords, ...squash, '--', ...parsed.args],
  };
};

function updatesRefs(parsed: ParsedOptions, view: View): boolean {
  if (hasOption(parsed, ...APPLY)) return false;
  const merge = view.gitIsAtLeast(2, 40) ? [...MERGE, ...MERGE_SINCE_2_40] : MERGE;
  if (configValue(view, 'rebase.backend') === 'apply' && !hasOption(parsed, ...merge)) return false;
  const option = lastOption(parsed, 'update-refs', 'no-update-refs')?.name;
  return option === undefined
    ? isConfigTrue(configValue(view, 'rebase.updaterefs'))
    : option === 'update-refs';
}

/** The commits that a rebase takes, by the rules of git's builtin/rebase.c, each by its name. */
interface RebasedRange {
  /** Undefined with --root. */
  readonly upstream: string | undefined;
  readonly onto: string | undefined;
  readonly head: string;
}

/** Undefined if git would refuse. */
function rebasedRange(parsed: ParsedOptions, view: View): RebasedRange | undefined {
  const isOn = (name: string) => lastOption(parsed, name, `no-${name}`)?.name === name;
  const [named, branch = 'HEAD'] = isOn('root')
    ? [undefined, ...parsed.args]
    : [upstreamName(parsed), parsed.args[1]];
  const head = commitOf(branch, view);
  const upstream = named === undefined ? undefined : commitOf(named, view);
  if (head === undefined || (upstream === undefined && named !== undefined)) return undefined;
  const onto = lastOption(parsed, 'onto')?.value;
  if (upstream !== undefined && isOn('keep-base'))
    return { upstream, onto: mergeBase(upstream, head, view), head };
  return { upstream, onto: onto === undefined ? upstream : ontoCommit(onto, view), head };
}

function upstreamName({ args: [name = '@{upstream}'] }: ParsedOptions): string {
  return name === '-' ? '@{-1}' : name;
}

export function hiddenBranchesIn(filters: readonly string[], view: View): string[] {
  const { stdout } = view.ask(['for-each-ref', '--format=%(refname)', ...filters, HEADS]);
  return stdout.split('\n').filter((ref) => view.isHidden(ref));
}

/** With one of these git rebases even if there is nothing to do. */
const FORCING = `exec autosquash force-rebase no-ff signoff ignore-date reset-author-date
  committer-date-is-author-date`.split(/\s+/);

/** Whether git would only say that the branch is up to date (can_fast_forward). */
function isUpToDate({ upstream, onto, head }: RebasedRange, parsed: ParsedOptions, view: View): boolean {
  if (upstream === undefined || onto === undefined || hasOption(parsed, ...FORCING)) return false;
  if (!view.gitIsAtLeast(2, 44) && isConfigTrue(configValue(view, 'rebase.autosquash'))) return false;
  if (mergeBase(onto, head, view) !== onto || mergeBase(upstream, head, view) !== onto) return false;
  const question = ['merge-base', '--fork-point', upstreamName(parsed), head];
  const fork = usesForkPoint(parsed, view) ? onlyLine(view.ask(question).stdout) : undefined;
  if (fork !== undefined && fork !== onto) return false;
  return view.ask(['rev-list', '--min-parents=2', '--max-count=1', `${onto}..${head}`]).stdout === '';
}

function usesForkPoint(parsed: ParsedOptions, view: View): boolean {
  const option = lastOption(parsed, 'fork-point', 'no-fork-point')?.name;
  if (option !== undefined) return option === 'fork-point';
  if (parsed.args.length > 0 || hasOption(parsed, 'keep-base')) return false;
  const configured = configValue(view, 'rebase.forkpoint');
  return configured === undefined || isConfigTrue(configured);
}

function ontoCommit(name: string, view: View): string | undefined {
  const [left, right, ...others] = name.split('...');
  if (left === undefined || right === undefined || others.length > 0) return commitOf(name, view);
  return mergeBase(left || 'HEAD', right || 'HEAD', view);
}

function commitOf(name: string, view: View): string | undefined {
  return onlyLine(view.ask(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]).stdout);
}

/** Undefined if there is none, or more than one. */
function mergeBase(left: string, right: string, view: View): string | undefined {
  return onlyLine(view.ask(['merge-base', '--all', left, right]).stdout);
}

function onlyLine(text: string): string | undefined {
  const [line, ...others] = text.split('\n').filter(Boolean);
  return others.length === 0 ? line : undefined;
}

/** Holds the script; git prints the name of an editor that fails, and the script is long. */
const VARIABLE = 'AGT_TODO_FILTER';

/**
 * git writes a step `update-ref <ref>`, or a comment `# Ref <ref> checked out at …`, each with an empty line after
 * it. The first comment after the steps ends with their number.
 */
const AWK = String.raw`
function isHidden(name) { return index(names, " " name " ") > 0 }
function isStep() { return ($1 == "update-ref" || $1 == "u") && isHidden($2) }
function isComment() { return $2 == "Ref" && $4 == "checked" && isHidden($3) }
NR == FNR { steps += isStep(); next }
isStep() || isComment() { isGap = 1; next }
isGap && $0 == "" { isGap = 0; next }
{ isGap = 0 }
!isCounted && $1 !~ /^[a-z]/ && match($0, /\([0-9]+ [^()]*\)$/) {
  isCounted = 1
  count = substr($0, RSTART + 1) - steps
  rest = substr($0, RSTART)
  sub(/[0-9]+/, count, rest)
  if (count == 1 && steps > 0) sub(/commands\)$/, "command)", rest)
  $0 = substr($0, 1, RSTART - 1) rest
}
{ print }`;

/** Nothing but the filter reads the list: the user would not have seen it. */
export const NO_EDITOR = ':';

/**
 * The environment in which git gives the list of steps to a filter before the first step. The filter then runs the user's
 * own editor. git forgets the lines that it takes out: the branches move neither now nor in a later `git rebase
 * --continue`. `editor` is a command of the shell, as git takes it.
 */
export function filterTodoList(hidden: readonly string[], editor: string): Record<string, string> {
  const names = ` ${hidden.join(' ')} `.replaceAll("'", "'\\''");
  const script = `LC_ALL=C awk -v names='${names}' '${AWK}' "$1" "$1" >"$1.agt" && cat "$1.agt" >"$1" && rm -f "$1.agt" || exit
${editor} "$@"`;
  return { GIT_SEQUENCE_EDITOR: `sh -c "$${VARIABLE}" sh`, [VARIABLE]: script };
}

/** The editor that git would start; undefined if it would find none, and say so. */
export function sequenceEditor(view: View): string | undefined {
  const chosen = process.env['GIT_SEQUENCE_EDITOR'] ?? view.config('sequence.editor').at(-1);
  if (chosen !== undefined) return chosen;
  const { exitCode, stdout } = view.ask(['var', 'GIT_EDITOR']);
  return exitCode === 0 ? stdout.replace(/\n$/, '') : undefined;
}
