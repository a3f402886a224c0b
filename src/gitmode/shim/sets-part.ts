/** The part of the shim's text for options that name a set of refs: `--all`, `--branches`, `--tags`, `--remotes`. */
import { localNamespaces, type Prefixes, SHARED_STASH } from '../../filter/agent-refs.ts';
import { HEADS, REMOTES, TAGS } from '../../git/files/ref-files.ts';
import { COUNT, TAKE_NEXT_WORD } from '../rules/revisions.ts';
import { SHORTLOG_OPTIONS } from '../rules/walks.ts';
import { butCurrent, caseList, namesOf, patternFor } from './sh-text.ts';

interface Commands {
  /** Those that also walk the histories, and those that show decorations. */
  readonly walking: readonly string[];
  readonly decorating: readonly string[];
}

export function setsPart(prefixes: Prefixes, { walking, decorating }: Commands): string {
  const histories = [...walking, ...decorating];
  const local = localNamespaces([prefixes]);
  const exclude = (namespace: string, root: string) =>
    butCurrent('--exclude=', namespace, root, `${namespace.slice(root.length)}*`, prefixes);
  const under = (root: string) => local.filter((namespace) => namespace.startsWith(root));
  const ofRemotes = (root: string) =>
    `  for agt_word in $agt_remotes; do
    agt_add="$agt_add ${namesOf(prefixes)
      .map((name) => `--exclude=${root}$agt_word/${name}/*`)
      .join(' ')}"
  done`;
  const takesNext = [
    ...[...TAKE_NEXT_WORD].map((option) => `*,${option}`),
    ...histories
      .filter((command) => command !== 'shortlog')
      .flatMap((command) => COUNT.takeNextWord.map((option) => `${command},${option}`)),
    ...SHORTLOG_OPTIONS.takeNextWord.map((option) => `shortlog,${option}`),
  ];
  const branchHeads = under(HEADS).map((namespace) => patternFor(`ref: ${namespace}`));
  return `# --all also means the HEAD of every worktree. Excludes those of the sandboxes.
agt_exclude_heads() {
  { IFS= read -r agt_line && IFS= read -r agt_line && IFS= read -r agt_line && IFS= read -r agt_trees; } <"$agt_file" ||
    agt_exec "$@"
  agt_own=''
  if [ "$agt_git" != "$agt_common" ]; then
    agt_own=\${agt_git##*/}
    case " $agt_trees " in *' - '*) agt_exec "$@" ;; esac
    if [ "$agt_common/HEAD" -nt "$agt_file" ] && agt_is_agents "$agt_common/HEAD"; then agt_exec "$@"; fi
  fi
  for agt_path in "$agt_common"/worktrees/*; do
    agt_word=\${agt_path##*/}
    if ! [ -f "$agt_path/gitdir" ] || [ "$agt_word" = "$agt_own" ]; then continue; fi
    case $agt_word in *[!A-Za-z0-9_.-]*) agt_exec "$@" ;; esac
    agt_known=''
    if ! [ "$agt_path/gitdir" -nt "$agt_file" ]; then
      case " $agt_trees " in
      *" $agt_word "*) agt_known=visible ;;
      *" -$agt_word "*) agt_known=hidden ;;
      esac
    fi
    case $agt_known in ?*) if [ "$agt_path/HEAD" -nt "$agt_file" ]; then agt_known="$agt_known before"; fi ;; esac
    case $agt_known in
    visible) continue ;;
    hidden) ;;
    'visible before') agt_is_agents "$agt_path/HEAD" || continue ;;
    *) agt_is_agents "$agt_path/HEAD" || agt_exec "$@" ;;
    esac
    agt_add="$agt_add --exclude=worktrees/$agt_word/HEAD"
  done
}
agt_is_agents() {
  IFS= read -r agt_line <"$1" || return 1
  case $agt_line in ${branchHeads.join(' | ')}) ;; *) return 1 ;; esac
}

agt_exclude_all() {
  agt_add=''
${local.map((namespace) => exclude(namespace, '')).join('\n')}
${ofRemotes(REMOTES)}
  if agt_has_own_stash; then agt_add="$agt_add --exclude=${SHARED_STASH}"; fi
}
agt_exclude_branches() {
  agt_add=''
${under(HEADS)
  .map((namespace) => exclude(namespace, HEADS))
  .join('\n')}
}
agt_exclude_remotes() {
  agt_add=''
${ofRemotes('')}
}

case $agt_command,$agt_sets in
${caseList([...histories, 'rev-parse'].map((command) => `${command},some`))}
  case "$*" in *--parseopt* | *--sq-quote*) agt_exec "$@" ;; esac
  case $agt_command in rev-parse) agt_settings "$@" ;; *) agt_plain "$@" ;; esac
  agt_facts "$@"
  agt_know_remotes "$@"
  agt_decor=''
  case $agt_command in
  ${caseList(decorating)}
    if agt_decorates "$@"; then agt_decorations "$@" && agt_decor=$agt_add; else agt_find_current "$@"; fi
    ;;
  *) agt_find_current "$@" ;;
  esac
  case " $* " in
  *' --all '*)
    agt_exclude_all
    case $agt_command in rev-parse) ;; *) agt_exclude_heads "$@" ;; esac
    agt_all=$agt_add
    ;;
  esac
  case " $* " in *' --branches'*) agt_exclude_branches && agt_branches=$agt_add ;; esac
  case " $* " in *' --remotes'*) agt_exclude_remotes && agt_of_remotes=$agt_add ;; esac
  shift "$agt_before"
  agt_next=''
  set -f
  # shellcheck disable=SC2086 # words without spaces
  for agt_word do
    shift
    case $agt_next$agt_word in
    --all) set -- "$@" $agt_all ;;
    --branches | --branches=*) set -- "$@" $agt_branches ;;
    --tags | --tags=*) set -- "$@" ${under(TAGS)
      .map((namespace) => `'--exclude=${namespace.slice(TAGS.length)}*'`)
      .join(' ')} ;;
    --remotes | --remotes=*) set -- "$@" $agt_of_remotes ;;
    esac
    case $agt_next,$agt_command,$agt_word in
    next,*) agt_next='' ;;
    end,*) ;;
    ,*,-- | ,*,--end-of-options) agt_next=end ;;
    ,rev-parse,*) ;;
${caseList(
  takesNext.map((pattern) => `,${pattern}`),
  '    ',
)} agt_next=next ;;
    esac
    set -- "$@" "$agt_word"
  done
  agt_before=0 agt_add=$agt_decor
  agt_become "$@"
  ;;
esac`;
}
