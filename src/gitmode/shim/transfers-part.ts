/** The shim's part for fetch and pull, with the refspecs of their rule, and for push: git gets named refs. */
import { OWN_NAMESPACE, type Prefixes } from '../../filter/agent-refs.ts';
import { negativeRefspecs } from '../rules/fetch.ts';
import * as push from '../rules/push.ts';
import { MARKS } from './facts-file.ts';
import { caseList, optionWords } from './sh-text.ts';

export function transfersPart(prefixes: Prefixes): string {
  const options = optionWords(push.OPTIONS, (name) => !push.SHAPING.includes(name)).whole;
  return `agt_push() {
  agt_left=$agt_before
  for agt_word do
    case $agt_left in 0) ;; *) agt_left=$((agt_left - 1)) && continue ;; esac
    case $agt_word in
${caseList(options, '    ')} ;;
    -* | '' | [!A-Za-z0-9]* | *'*'* | *file:*) agt_exec "$@" ;;
    esac
  done
  agt_facts "$@"
  case $agt_marks in *${MARKS.pushesMore}*) agt_exec "$@" ;; esac
  # The time of a file can be set back, and a push cannot be taken back: so look for settings that push more.
  if LC_ALL=C grep -qsiE 'mirror|matching|include|push[[:space:]]*=' "$agt_common/config" "$agt_git/config.worktree" \\
    "\${HOME-}/.gitconfig" "\${XDG_CONFIG_HOME:-\${HOME-}/.config}/git/config" /etc/gitconfig; then agt_exec "$@"; fi
  exec "$agt_real" "$@"
}

# Whether the repository has refs of agt.
agt_has_own() {
  for agt_path in "$agt_common"/${OWN_NAMESPACE}*/*; do
    if [ -f "$agt_path" ]; then return; fi
  done
  case $agt_marks in *${MARKS.packsOwnRefs}*) ! [ "$agt_common/packed-refs" -nt "$agt_file" ] ;; *) return 1 ;; esac
}

case $agt_command in
push)
  agt_settings "$@"
  agt_push "$@"
  ;;
fetch | pull)
  if [ -e "$agt_common/modules" ] || [ -e "$agt_git/modules" ]; then agt_exec "$@"; fi
  case "$*" in *:* | *'*'*) agt_exec "$@" ;; esac
  case $agt_command in pull) if agt_in_session || agt_is_known; then agt_exec "$@"; fi ;; esac
  agt_settings "$@"
  agt_facts "$@"
  case $agt_command:$agt_marks in *:*[${MARKS.oddRemotes}${MARKS.fetchesLess}]* | pull:*${MARKS.movesBranches}*) agt_exec "$@" ;; esac
  case $agt_remotes in '') exec "$agt_real" "$@" ;; esac
  agt_has_own || agt_exec "$@"
  agt_add=''
  for agt_word in $agt_remotes; do
    agt_add="$agt_add ${negativeRefspecs([prefixes])
      .map((refspec) => `-c remote.$agt_word.fetch=${refspec}`)
      .join(' ')}"
  done
  shift "$agt_before"
  set -f
  # shellcheck disable=SC2086 # words without spaces
  exec "$agt_real" \${agt_from:+-C "$agt_from"} $agt_flags $agt_add "$agt_command" "$@"
  ;;
esac`;
}
