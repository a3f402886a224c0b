/** Parts of the front: where it is (place), who answers for agt (ask), is anything newer (look, wait). */
import { foldersDirectory } from '../../layout.ts';
import { QUESTION_FD } from '../../triggers/watch/questions.ts';

/** The stores of attached folders. */
const FOLDERS = foldersDirectory('$agt_state');

/** Finds the session, or the folder without one: sets `agt_front`, the directory of facts, and `agt_id`. */
export const PLACE_PART = `# The session folder that this directory is in, or else the worktree.
agt_up=$PWD agt_id='' agt_attached=''
until [ -z "$agt_up" ]; do
  case \${agt_up%/*} in
  */sessions)
    if [ -e "$agt_up/sandbox/.git" ]; then
      agt_id=\${agt_up##*/} agt_above=$agt_up agt_worktree='' agt_git=$agt_up/sandbox/.git
      break
    fi
    ;;
  esac
  agt_up=\${agt_up%/*}
done
case $agt_id in
'')
  agt_up=$PWD
  until [ -e "$agt_up/.git" ]; do
    if [ -f "$agt_up/HEAD" ]; then agt_run; fi
    case $agt_up in '') break ;; esac
    agt_up=\${agt_up%/*}
  done
  agt_up=\${agt_up:-$PWD}
  agt_above='' agt_worktree=$agt_up agt_git=$agt_up/.git
  ;;
esac
if [ -f "$agt_git" ]; then
  { IFS= read -r agt_line <"$agt_git"; } 2>/dev/null || agt_run
  case $agt_line in 'gitdir: /'*) agt_git=\${agt_line#gitdir: } ;; *) agt_run ;; esac
fi
agt_common=$agt_git
if [ -f "$agt_git/commondir" ]; then
  { IFS= read -r agt_line <"$agt_git/commondir"; } 2>/dev/null || agt_run
  case $agt_line in /*) agt_common=$agt_line ;; *) agt_common=$agt_git/$agt_line ;; esac
fi
agt_front=$agt_common/agt/front
case $agt_named$agt_id in
'')
  if [ -e "$agt_git/agt-in-place" ]; then
    { IFS= read -r agt_id <"$agt_git/agt-in-place" || [ "$agt_id" ]; } 2>/dev/null || agt_run
  else
    # The sandbox may stand at the user's own path, for this command alone.
    case \${AGT_SANDBOX-} in "$agt_up") agt_run ;; esac
    # A folder without a session; agt autocommit is not for those.
    agt_attached=1
    agt_id=\${agt_up##*/} agt_state=\${XDG_STATE_HOME-}
    case $agt_tool,$agt_id in ,* | *, | *,*[!A-Za-z0-9._-]*) agt_run ;; esac
    # A project's .env file may have set it.
    case $agt_state in "$agt_up"/*) agt_run ;; /*) ;; *) agt_state=\${HOME-}/.local/state ;; esac
    for agt_front in "${FOLDERS}/$agt_id"-????????????.git/agt/front; do
      { read -r agt_line && read -r agt_line && IFS= read -r agt_line; } <"$agt_front/$agt_id" || continue
      case $agt_line in "tree $agt_up") break ;; esac
    done 2>/dev/null
  fi
  ;;
esac
case $agt_named in ?*) agt_id=$agt_named ;; esac`;

const { reply, event, pipe } = QUESTION_FD;

/** A second for each round: so long the watcher may take for an answer once it has heard the question. */
const ROUNDS = '..........';

/**
 * Asks a running `agt watch` to capture where something has changed (triggers/watch/questions.ts has the other side). The
 * watcher need not be started as agt would. Whenever it does not answer, the front starts agt.
 */
export const ASK_PART = `# The process that watches: the same program, for the same user and settings, which has the pipe open.
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

/** Starts what looks beside the checks, until it has found something; `WAIT_PART` takes large folders. */
export const LOOK_PART = `  exec 2>/dev/null
  export LC_ALL=C
  agt_differs() {
    echo changed
    exit 1
  }
  # Everything that has a time. agt itself makes files in the session folder, but only there.
  agt_quit=-quit
  agt_find() {
    exec find "$@" -name .git -prune -o -cnewer "$agt_facts" '(' -path "$agt_path" -o \\
      -path "*$agt_newline*" -printf 'many\\n' -quit -o -printf 'path %p\\n' $agt_quit ')'
  }
  case $agt_split in '') agt_find "$@" "$agt_folder" \${agt_tree:+"$agt_tree"} & agt_finds=$! ;; esac
  # Mounts, and on some file systems memory maps of processes in the folder.
  agt_look_in_proc() {
    cd -P /proc || agt_differs
    set -- /proc/self/mountinfo
    for agt_process in $agt_maps; do
      cd -P "/proc/$agt_process/cwd" || continue
      case $PWD/ in "$agt_folder"/* | "\${agt_tree:-$agt_folder}"/*) set -- "$@" "/proc/$agt_process/maps" ;; esac
    done
    grep -q -e "$agt_patterns" "$@" &
  }
  agt_look_in_proc
  agt_grep=$!`;

/** Bytes. A process writes up to 4,096 into a pipe in one piece; a longer list would save agt little. */
const LONGEST_LIST = 3_000;

/**
 * Comes after the checks. A large folder is looked at in parts, by plain names that are relative to it; a line of them is
 * for one process. agt is started at the first newer path, and gets the others (triggers/front/newer-paths.ts) while it
 * starts. Too many end the search.
 */
export const WAIT_PART = `  case $agt_split in
  '') wait "$agt_finds" || agt_differs ;;
  *)
    agt_quit=''
    {
      printf began
      find "$agt_clock" "$agt_facts" -printf ' %i %T@'
      echo
      agt_find "$@" &
      agt_finds=$!
      if cd -P "$agt_folder"; then
        agt_path=.
        # shellcheck disable=SC2086
        agt_find . $agt_split -maxdepth 1 &
        agt_finds="$agt_finds $!"
        IFS=$agt_newline
        for agt_part in $agt_parts; do
          IFS=' '
          # shellcheck disable=SC2086
          agt_find $agt_part &
          agt_finds="$agt_finds $!"
        done
        IFS=' '
        echo "started $agt_finds"
        for agt_one in $agt_finds; do
          wait "$agt_one" || echo many
        done
        echo looked
      fi
    } | {
      agt_started='' agt_paths='' agt_many=''
      while IFS= read -r agt_line; do
        case $agt_line in
        'began '*) agt_began=$agt_line ;;
        'started '*) agt_started=\${agt_line#started } ;;
        'path '*)
          case $agt_paths in '') printf 'changed\\n%s\\n' "$agt_began" ;; esac
          printf '%s\\n' "$agt_line"
          agt_paths=$agt_paths$agt_line
          [ \${#agt_paths} -le ${LONGEST_LIST} ] || agt_many=1
          ;;
        looked) break ;;
        *) agt_many=1 ;;
        esac
        # shellcheck disable=SC2086
        case $agt_many,$agt_started in 1,?*)
          kill $agt_started
          agt_differs
          ;;
        esac
      done
      case $agt_line,$agt_many in looked,) ;; *) agt_differs ;; esac
    } || exit
    ;;
  esac
  wait "$agt_grep"
  # 2: a process has ended meanwhile, or is another user's.
  case $? in 1 | 2) [ -r /proc/self/mountinfo ] || agt_differs ;; *) agt_differs ;; esac`;
