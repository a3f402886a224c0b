/**
 * git rebase. With rebase.updateRefs or --update-refs, git moves every branch that points to a rebased commit, and takes
 * no exceptions. So agt filters the list of steps (todo-list.ts). git gives that list to an editor only if the rebase is
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
import { hiddenBranches, isUpToDate, rebasedRange } from './rebased-range.ts';
import type { Rule } from './rule.ts';
import { filterTodoList, NO_EDITOR, sequenceEditor } from './todo-list.ts';

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
  const hidden = range === undefined ? [] : hiddenBranches(range, view);
  if (range === undefined || hidden.length === 0) return undefined;
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
