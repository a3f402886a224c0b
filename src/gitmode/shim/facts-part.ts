/** The parts of the shim's text that read the facts that the executable left, and add the decoration options of log. */
import { branchNamespaces, localNamespaces, type Prefixes } from '../../filter/agent-refs.ts';
import { REMOTES } from '../../git/files/ref-files.ts';
import { DEFAULT_DECORATIONS } from '../rules/decorations.ts';
import { MARKS } from './facts-file.ts';
import { butCurrent, FACTS, namesOf, patternFor } from './sh-text.ts';

export function factsPart(prefixes: Prefixes): string {
  const current = branchNamespaces([prefixes]).map((namespace) => patternFor(`ref: ${namespace}`));
  return `# Leaves the names of the remotes, and what else the executable left for this worktree, unless something that these
# facts depend on is newer.
agt_facts() {
  agt_file=${FACTS}
  case $agt_config\${GIT_CONFIG_COUNT-}\${GIT_CONFIG_PARAMETERS-}\${GIT_CONFIG_SYSTEM-}\${GIT_CONFIG_GLOBAL-}\${GIT_REPLACE_REF_BASE-} in
  ?*) agt_exec "$@" ;;
  esac
  if ! [ -f "$agt_file" ] || [ "$agt_common/config" -nt "$agt_file" ] ||
    [ "$agt_git/config.worktree" -nt "$agt_file" ] || [ "\${HOME-}/.gitconfig" -nt "$agt_file" ] ||
    [ /etc/gitconfig -nt "$agt_file" ] ||
    [ "\${XDG_CONFIG_HOME:-\${HOME-}/.config}/git/config" -nt "$agt_file" ]; then agt_exec "$@"; fi
  { IFS= read -r agt_marks && IFS= read -r agt_remotes && IFS= read -r agt_head; } <"$agt_file" || agt_exec "$@"
  case $agt_marks in *":\${HOME-}:\${XDG_CONFIG_HOME-}:\${GIT_CONFIG_NOSYSTEM-}") agt_marks=\${agt_marks%%:*} ;; *) agt_exec "$@" ;; esac
  case $agt_remotes in *[!A-Za-z0-9_./\\ -]*) agt_exec "$@" ;; esac
}

# Leaves the agent's branch that is checked out here. It is never hidden.
agt_find_current() {
  agt_current=''
  case $agt_file in
  '') ;;
  *)
    if ! [ "$agt_git/HEAD" -nt "$agt_file" ]; then
      agt_current=\${agt_head#ref: }
      return
    fi
    ;;
  esac
  if ! [ -f "$agt_git/HEAD" ]; then agt_exec "$@"; fi
  IFS= read -r agt_head <"$agt_git/HEAD" || agt_exec "$@"
  case $agt_head in
  ${current.join(' | ')})
    case $agt_head in 'ref: '*[!A-Za-z0-9_./-]*) agt_exec "$@" ;; esac
    agt_current=\${agt_head#ref: }
    ;;
  'ref: refs/heads/'* | [0-9a-f]*) ;;
  *) agt_exec "$@" ;;
  esac
}

# Adds $1 before each pattern for what is in the namespace $2 but the branch checked out here; $3 is taken off the start.
agt_but_current() {
  agt_rest=\${agt_current#"$2"} agt_stem=\${2#"$3"}
  while :; do
    agt_tail=\${agt_rest#?}
    agt_char=\${agt_rest%"$agt_tail"}
    agt_add="$agt_add $1\${agt_stem}[!$agt_char]*"
    agt_stem=$agt_stem$agt_char agt_rest=$agt_tail
    case $agt_rest in '') break ;; esac
    agt_add="$agt_add $1$agt_stem"
  done
  agt_add="$agt_add $1$agt_stem?*"
}

# Without an option or a setting, git decorates only on a terminal.
agt_decorates() {
  case $agt_marks\${GIT_PAGER_IN_USE-} in
  *[!${Object.values(MARKS)
    .filter((mark) => mark !== MARKS.decoratesInPipes)
    .join('')}]*)
    return
    ;;
  esac
  case "$*" in *decorat* | *pretty* | *%*[dD]*) return ;; esac
  [ -t 1 ]
}

agt_decorations() {
  case $agt_marks in *[${MARKS.choosesDecorations}${MARKS.oddRemotes}]*) agt_exec "$@" ;; esac
  agt_find_current "$@"
  agt_add=''
${localNamespaces([prefixes])
  .map((namespace) => butCurrent('--decorate-refs-exclude=', namespace, '', namespace.slice(0, -1), prefixes))
  .join('\n')}
  for agt_word in $agt_remotes; do
    agt_add="$agt_add ${namesOf(prefixes)
      .map((name) => `--decorate-refs-exclude=${REMOTES}$agt_word/${name}`)
      .join(' ')}"
  done
  agt_add="$agt_add ${DEFAULT_DECORATIONS.join(' ')}"
}

# Becomes git, with agt_add before the words of the command.
agt_become() {
  shift "$agt_before"
  set -f
  # shellcheck disable=SC2086 # words without spaces
  exec "$agt_real" \${agt_from:+-C "$agt_from"} $agt_flags "$agt_command" $agt_add "$@"
}

agt_log() {
  agt_facts "$@"
  agt_decorates "$@" || exec "$agt_real" "$@"
  agt_decorations "$@"
  agt_become "$@"
}
case $agt_git in ?*) agt_log "$@" ;; esac`;
}
