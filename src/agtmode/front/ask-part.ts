/**
 * The part of the front that asks a running `agt watch` to capture, where something has changed (triggers/watch/questions.ts
 * has the other side). The watcher does all that agt would do, and need not be started. Whenever it does not answer, the
 * front starts agt.
 */
import { QUESTION_FD } from '../../triggers/watch/questions.ts';

const { reply, event, pipe } = QUESTION_FD;

/** A second for each round: so long the watcher may take for an answer once it has heard the question. */
const ROUNDS = '..........';

export function askPart(): string {
  return `# The process that watches: the same program, for the same user and settings, which has the pipe open.
agt_watches() {
  [ -O "$agt_front/.watcher" ] || return
  {
    read -r agt_pid agt_fd && IFS= read -r agt_of_home && IFS= read -r agt_of_config && IFS= read -r agt_of_state &&
      IFS= read -r agt_of_git
  } <"$agt_front/.watcher" || return
  case $agt_of_home in "\${HOME-}") ;; *) return 1 ;; esac
  case $agt_of_config in "\${XDG_CONFIG_HOME-}") ;; *) return 1 ;; esac
  case $agt_of_state in "\${XDG_STATE_HOME-}") ;; *) return 1 ;; esac
  case $agt_of_git in "\${AGT_GIT_PATH-}") ;; *) return 1 ;; esac
  [ "/proc/$agt_pid/exe" -ef "$agt_full" ] && [ "/proc/$agt_pid/fd/$agt_fd" -ef "$agt_front/.questions" ] || return
  agt_goes_on
} 2>/dev/null
# It may be stopped.
agt_goes_on() {
  IFS= read -r agt_line <"/proc/$agt_pid/stat" || return
  case $agt_line in *') '[RSD]' '*) ;; *) return 1 ;; esac
}
# Asks with the words "$@". The watcher finds the answer's pipe, a here-document, in /proc. A sleep that holds the pipe open
# ends the wait for a line. Returns if agt has to be started.
agt_ask() {
  command exec ${reply}<<'AGT' ${pipe}<>"$agt_front/.questions" || return
.
AGT
  [ -p "/proc/$$/fd/${reply}" ] || return
  IFS= read -r agt_line <&${reply}
  agt_heard='' agt_round=''
  printf '%s\\n' "$$ $*" >&${pipe} || return
  until [ "$agt_round" = ${ROUNDS} ]; do
    command exec 5>"/proc/$$/fd/${reply}" || return
    sleep 1 >&5 <&- 3<&- ${reply}<&- 5>&- ${event}<&- ${pipe}<&- 9>&- &
    agt_sleep=$!
    command exec 5>&-
    while IFS= read -r agt_line <&${reply}; do
      case $agt_line in
      heard) agt_heard=1 ;;
      'out '*) printf '%s\\n' "\${agt_line#out }" ;;
      'err '*) printf '%s\\n' "\${agt_line#err }" >&9 ;;
      'exit '*)
        kill "$agt_sleep"
        exit "\${agt_line#exit }"
        ;;
      *)
        kill "$agt_sleep"
        return 1
        ;;
      esac
    done
    case $agt_heard in '') return 1 ;; esac
    agt_goes_on || return
    agt_round=.$agt_round
  done
  return 1
} 9>&2 2>/dev/null
# Something has changed, or agt has to look whether it has.
agt_look() {
  case $agt_attached in 1) agt_run ;; esac
  case $agt_tool,$agt_by in *[!A-Za-z0-9,._-]*) agt_run ;; esac
  agt_watches || agt_run
  case $agt_tool in
  '')
    agt_ask autocommit "\${agt_named:--}" "\${agt_by:--}" || agt_run
    ;;
  esac
  agt_read_event
  command exec ${event}<<AGT || agt_tell
$agt_event
AGT
  agt_ask hook "$agt_id" "$agt_tool" || agt_tell
}`;
}
