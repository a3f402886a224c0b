/**
 * git pull: the rule of fetch, and that of rebase if it rebases. git pull passes no option of git rebase on, but takes
 * `--rebase=interactive`.
 *
 * Limits: such a pull stops at a commit that becomes empty, where git would drop it. A pull with `--rebase=merges` moves
 * no branch of the user's while a hidden branch points to a commit of the current branch.
 */
import { HEADS } from '../../git/files/ref-files.ts';
import { lastOption, optionTable, parseOptions } from '../command-line/options.ts';
import { configValue, currentBranch, isConfigTrue, namespacesUnder, type View } from '../view/view.ts';
import { fetch } from './fetch.ts';
import { filterTodoList, hiddenBranchesIn, NO_EDITOR, sequenceEditor } from './rebase.ts';
import type { Rewrite, Rule } from './rule.ts';

const PULL_OPTIONS = optionTable(`
  v|verbose q|quiet progress recurse-submodules? r|rebase? n|no-stat stat compact-summary summary log? signoff squash
  commit edit cleanup= ff ff-only verify verify-signatures autostash s|strategy= X|strategy-option= S|gpg-sign?
  allow-unrelated-histories all a|append upload-pack= f|force t|tags p|prune j|jobs? dry-run k|keep depth=
  shallow-since= shallow-exclude= deepen= unshallow update-shallow refmap= o|server-option= 4|ipv4 6|ipv6
  negotiation-tip= show-forced-updates set-upstream`);

export const pull: Rule = (args, view) => {
  const fetching = fetch(args, view);
  return rebasing(fetching ?? { args }, view) ?? fetching;
};

/** Undefined if the pull moves no hidden branch. */
function rebasing(given: Rewrite, view: View): Rewrite | undefined {
  if (namespacesUnder(view, HEADS).length === 0) return undefined;
  const parsed = parseOptions(given.args, PULL_OPTIONS);
  if (parsed === undefined || !isConfigTrue(configValue(view, 'rebase.updaterefs'))) return undefined;
  const option = lastOption(parsed, 'rebase', 'no-rebase');
  const configured = configuredKey(view);
  const kind =
    option === undefined
      ? configValue(view, configured)
      : option.name === 'no-rebase'
        ? 'false'
        : (option.value ?? 'true');
  const hidden = isOn(kind) ? hiddenBranchesIn(['--merged=HEAD'], view) : [];
  if (hidden.length === 0) return undefined;
  const withConfig = (...more: string[]) => ({ ...given, config: [...(given.config ?? []), ...more] });
  if (kind === 'merges' || kind === 'm') return withConfig('rebase.updateRefs=false');
  if (kind === 'interactive' || kind === 'i') {
    const editor = sequenceEditor(view);
    return editor === undefined ? undefined : { ...given, env: filterTodoList(hidden, editor) };
  }
  const quietly = ['rebase.autoSquash=false', 'advice.waitingForEditor=false'];
  const env = filterTodoList(hidden, NO_EDITOR);
  // An option would beat pull.ff=only; the configuration does not.
  if (option === undefined) return { ...withConfig(...quietly, `${configured}=interactive`), env };
  const args = [...parsed.optionWords, '--rebase=interactive', '--', ...parsed.args];
  return { ...withConfig(...quietly), args, env };
}

function configuredKey(view: View): string {
  const branch = currentBranch(view);
  const key = `branch.${branch}.rebase`;
  return branch !== undefined && view.config(key).length > 0 ? key : 'pull.rebase';
}

function isOn(kind: string | undefined): boolean {
  return isConfigTrue(kind) || /^(merges|m|interactive|i)$/.test(kind ?? '');
}
