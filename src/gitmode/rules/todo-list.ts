/**
 * The list of steps of an interactive rebase without hidden branches: git gives it to an editor before the first
 * step. The editor here is a filter, which then runs the user's own editor. git forgets the lines that it takes out:
 * the branches move neither now nor in a later `git rebase --continue`.
 */
import type { View } from '../view/view.ts';

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

/** The environment for git. `editor` is a command of the shell, as git takes it. */
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
