/**
 * The text of the front: a POSIX sh script in place of agt. For `agt autocommit`, and for the events of an agent before a
 * tool and after it has succeeded, it looks whether anything has changed since the last scan. If not, it is done; agt would
 * take ten times as long to find the same. It starts the executable for everything else, and whenever it is not sure.
 *
 * agt leaves the facts that the script needs (triggers/front/facts.ts). The time of their file is that of the scan. On the
 * file systems that agt leaves facts for, every change gives a file or a directory a later time of change (ctime), which
 * no program can set. The exceptions, and how the script sees them:
 *
 * - a clock set back: the script makes a file, and compares its time;
 * - a mount, and where writing through memory maps changes no time: the kernel's lists, which the executable reads, too;
 * - a restart of the machine, which may have lost what was not flushed: the boot has an id;
 * - refs that agt moves itself, and a deletion of what was there: by content, and by existence.
 */

import { FRONT_TIMES } from '../../layout.ts';
import { singleQuoted } from '../../process/shell-quote.ts';
import { FACTS_FORMAT, GIT_FILES } from '../../triggers/front/fact-lines.ts';
import { NEWER_PATHS_FD, NEWER_PATHS_OF } from '../../triggers/front/newer-paths.ts';
import { type Answered, answered, eventPart, offPart } from './front-events.ts';
import { ASK_PART, LOOK_PART, PLACE_PART, WAIT_PART } from './front-parts.ts';

/** The script has this word in its first lines. */
export const FRONT_MARK = 'agt-front';

export interface Front {
  /** Absolute path of agt. */
  readonly agt: string;
  readonly integrations: readonly Answered[];
}

export function frontText({ agt, integrations }: Front): string {
  return `#!/bin/sh
# ${FRONT_MARK}: answers for agt if nothing has changed, and starts agt otherwise. agt has written it.
# shellcheck disable=SC2094,SC3013,SC3067 # dash, bash and busybox have -nt, -ef and -O, with no process started
agt_full=${singleQuoted(agt)}
if ! [ -x "$agt_full" ]; then
  echo "warning: agt: $agt_full is gone; nothing is captured: install agt again, or remove its hooks" >&2
  case \${1-} in hook) ;; *) exit 127 ;; esac
  # To an agent, another exit code of a hook may be an order, and an event that nobody reads an error.
  if ! [ -t 0 ]; then cat >/dev/null; fi
  exit 0
fi
agt_option() {
  case $1,$2 in
  --wait, | --wait,*[!0-9]* | --tool, | --tool,-*) return 1 ;;
  --wait,*) ;;
  --tool,*) agt_by=$2 ;;
  --session-id, | --session-id,[!A-Za-z0-9]* | --session-id,*[!A-Za-z0-9._-]*) return 1 ;;
  --session-id,*) agt_named=$2 ;;
  *) return 1 ;;
  esac
}
agt_tool='' agt_named='' agt_by=''
case $#,\${1-} in
1,autocommit) ;;
2,autocommit) if ! agt_option --session-id "$2"; then exec "$agt_full" "$@"; fi ;;
3,autocommit) if ! agt_option "$2" "$3"; then exec "$agt_full" "$@"; fi ;;
5,autocommit) if ! agt_option "$2" "$3" || ! agt_option "$4" "$5"; then exec "$agt_full" "$@"; fi ;;
2,hook)
  agt_tool=$2
  case $agt_tool in ${answered(integrations)
    .map(({ name }) => name)
    .join(' | ')}) ;; *) exec "$agt_full" "$@" ;; esac
  if [ -t 0 ]; then exec "$agt_full" "$@"; fi
  ;;
*) exec "$agt_full" "$@" ;;
esac
set +efuC

# Real paths are needed. The shell keeps PWD by itself, so agt gets back what it was.
agt_pwd=\${PWD-} agt_old=\${OLDPWD-} agt_count=$# agt_1=$1 agt_2=\${2-} agt_3=\${3-} agt_4=\${4-} agt_5=\${5-}
agt_run() {
  PWD=$agt_pwd
  case $agt_old in ?*) OLDPWD=$agt_old ;; esac
  case $agt_count in
  1) set -- "$agt_1" ;;
  2) set -- "$agt_1" "$agt_2" ;;
  3) set -- "$agt_1" "$agt_2" "$agt_3" ;;
  5) set -- "$agt_1" "$agt_2" "$agt_3" "$agt_4" "$agt_5" ;;
  esac
  exec "$agt_full" "$@" 3<&- 4<&- 6<&- 7<&-
}
cd -P . 2>/dev/null || agt_run
case $agt_tool,\${GIT_DIR-}\${GIT_WORK_TREE-}\${GIT_COMMON_DIR-}\${GIT_INDEX_FILE-}\${GIT_OBJECT_DIRECTORY-}\${GIT_CEILING_DIRECTORIES-}\${GIT_DISCOVERY_ACROSS_FILESYSTEM-}\${GIT_REFERENCE_BACKEND-}\${AGT_TRACE-}\${AGT_DEBUG-} in
,?*) agt_run ;;
esac

${PLACE_PART}
${eventPart(integrations)}
${offPart(integrations)}
${ASK_PART}
agt_facts=$agt_front/$agt_id
if ! [ -f "$agt_facts" ] || ! [ -O "$agt_facts" ]; then agt_look; fi

# The facts. Roots for find become the arguments of this script, and patterns for grep a list.
agt_in='' agt_folder='' agt_tree='' agt_path='' agt_patterns='' agt_parts='' agt_split='' agt_maps='' agt_answer='' agt_outside=''
agt_newline='
'
set --
# A watcher may delete them at any time.
{ command exec 3<"$agt_facts"; } 2>/dev/null || agt_look
IFS= read -r agt_line <&3 || agt_look
case $agt_line in '${FACTS_FORMAT}') ;; *) agt_look ;; esac
until [ "$agt_line" = checks ]; do
  IFS= read -r agt_line <&3 || agt_run
  agt_value=\${agt_line#* }
  case $agt_line in
  'folder '*) agt_folder=$agt_value agt_path=$agt_value ;;
  'tree '*) agt_tree=$agt_value ;;
  'unchecked '*) agt_path=$agt_value ;;
  'in '*) agt_in=$agt_value ;;
  'outside '*) agt_outside=\${agt_outside:+$agt_outside$agt_newline}$agt_value ;;
  'root '*) set -- "$@" "$agt_value" ;;
  'roots '*) for agt_name in $agt_value; do set -- "$@" "$agt_in/$agt_name"; done ;;
  'last '*) for agt_name in $agt_value; do set -- "$@" "$agt_folder/$agt_name"; done ;;
  maps) agt_maps='[0-9]*' ;;
  'grep '*) agt_patterns=\${agt_patterns:+$agt_patterns$agt_newline}$agt_value ;;
  'split '*) agt_split=$agt_value ;;
  'part '*) agt_parts=\${agt_parts:+$agt_parts$agt_newline}$agt_value ;;
  checks) ;;
  *) agt_run ;;
  esac
done
# One of the three is given.
case $agt_named in
'') case $agt_above,$agt_worktree in "$agt_folder," | ",$agt_tree") ;; *) agt_run ;; esac ;;
esac

# The clock.
agt_clock=$agt_front/${FRONT_TIMES.clock}$agt_id
{ true >"$agt_clock"; } 2>/dev/null || agt_run
if [ "$agt_facts" -nt "$agt_clock" ] || [ "$agt_clock" -nt "$agt_front/${FRONT_TIMES.until}$agt_id" ]; then agt_look; fi

# Several look at the same time. The first line is the answer: changed, or that nothing has.
agt_looks() {
${LOOK_PART}
  # The checks.
  agt_says=''
  while IFS= read -r agt_line <&3; do
    agt_value=\${agt_line#* }
    case $agt_line in
    'in '*) agt_in=$agt_value ;;
    'is '*)
      IFS= read -r agt_line <&3 || agt_differs
      IFS= read -r agt_got <"$agt_in/$agt_value" || agt_differs
      case $agt_got in "$agt_line") ;; *) agt_differs ;; esac
      ;;
    'leads '*)
      IFS= read -r agt_line <&3 || agt_differs
      [ "$agt_in/$agt_value" -ef "$agt_line" ] || agt_differs
      ;;
    git-files*)
      for agt_name in ${GIT_FILES.join(' ')}; do
        case "$agt_line " in *" $agt_name "*) continue ;; esac
        if [ -e "$agt_in/$agt_name" ] || [ -L "$agt_in/$agt_name" ]; then agt_differs; fi
      done
      ;;
    'directories '*)
      for agt_name in $agt_value; do
        if ! [ -d "$agt_in/$agt_name" ] || [ -L "$agt_in/$agt_name" ]; then agt_differs; fi
      done
      ;;
    'without '*)
      for agt_name in $agt_value; do
        if [ -e "$agt_in/$agt_name" ] || [ -L "$agt_in/$agt_name" ]; then agt_differs; fi
      done
      ;;
    'file '*) [ -f "$agt_in/$agt_value" ] || agt_differs ;;
    'of '*) [ "$agt_front" -ef "$agt_value" ] || agt_differs ;;
    'xdg '*) case \${XDG_CONFIG_HOME-} in "$agt_value") ;; *) agt_differs ;; esac ;;
    'home '*) case \${HOME-} in "$agt_value") ;; *) agt_differs ;; esac ;;
    'agt '*) [ "$agt_full" -ef "$agt_value" ] || agt_differs ;;
    'says '*) agt_says=$agt_value ;;
    end) break ;;
    *) agt_differs ;;
    esac
  done
  case $agt_line in end) ;; *) agt_differs ;; esac
${WAIT_PART}
  echo "unchanged $agt_says"
}
if {
  command exec ${NEWER_PATHS_FD}<<'AGT' && [ -p "/proc/$$/fd/${NEWER_PATHS_FD}" ] && command exec 5>"/proc/$$/fd/${NEWER_PATHS_FD}"
.
AGT
} 2>/dev/null; then
  IFS= read -r agt_line <&${NEWER_PATHS_FD}
  agt_looks "$@" >&5 5>&- ${NEWER_PATHS_FD}<&- &
  exec 5>&-
  IFS= read -r agt_answer <&${NEWER_PATHS_FD}
  # If this process becomes agt, agt reads on: what the paths are.
  case $agt_answer in changed) export "${NEWER_PATHS_OF}=$$" ;; esac
else
  agt_answer=$(agt_looks "$@")
fi
case $agt_answer in *"$agt_newline"*) agt_look ;; 'unchanged '*) ;; *) agt_look ;; esac
agt_says=\${agt_answer#unchanged }
case $agt_tool$agt_says in '') agt_look ;; esac

agt_note() {
  { true >"$agt_front/${FRONT_TIMES.seen}$agt_id"; } 2>/dev/null
}
case $agt_tool in
'')
  agt_note || agt_run
  printf '%s\\n' "$agt_says"
  exit 0
  ;;
esac
agt_read_event
agt_note || agt_tell
agt_note_call
exit 0
`;
}
