/**
 * The text of the front: a POSIX sh script in place of agt. For `agt autocommit`, and for the event of an agent that a tool
 * has succeeded, it looks whether anything has changed since the last scan. If not, it is done; agt would take ten times
 * as long to find the same. It starts the executable for everything else, and whenever it is not sure.
 *
 * agt leaves the facts that the script needs (triggers/front/facts.ts). The time of their file is that of the scan. On the
 * file systems that agt leaves facts for, every change gives a file or a directory a later time of change (ctime), which
 * no program can set. The exceptions, and how the script sees them:
 *
 * - a clock set back: the script makes a file, and compares its time;
 * - a mount, and writing through memory maps: the kernel's lists, which the executable reads for maps, too;
 * - a restart of the machine, which may have lost what was not flushed: the boot has an id;
 * - refs that agt moves itself, and a deletion of what was there: by content, and by existence.
 */
import { singleQuoted } from '../../git/run/trace.ts';
import type { Integration } from '../../integrations/integration.ts';
import { FRONT_TIMES, foldersDirectory } from '../../repository/layout.ts';
import { FACTS_FORMAT, GIT_FILES } from '../../triggers/front/fact-lines.ts';

/** The script has this word in its first lines. */
export const FRONT_MARK = 'agt-front';

/** So many characters of an event have to hold all that the script reads. */
const HEAD_LENGTH = 2_000;

/** The stores of attached folders. */
const FOLDERS = foldersDirectory('$agt_state');

type Succeeded = NonNullable<Integration['succeeded']>;

export interface Front {
  /** Absolute path of agt. */
  readonly agt: string;
  readonly integrations: readonly Pick<Integration, 'name' | 'succeeded'>[];
}

export function frontText({ agt, integrations }: Front): string {
  const known = integrations.flatMap(({ name, succeeded }) =>
    succeeded === undefined ? [] : [{ name, ...succeeded }],
  );
  return `#!/bin/sh
# ${FRONT_MARK}: answers for agt if nothing has changed, and starts agt otherwise. agt has written it.
# shellcheck disable=SC3013,SC3067 # -nt, -ef and -O: dash, bash and busybox have them, with no process started
agt_full=${singleQuoted(agt)}
agt_option() {
  case $1,$2 in
  --wait, | --wait,*[!0-9]* | --tool, | --tool,-*) return 1 ;;
  --wait,* | --tool,*) ;;
  --session-id, | --session-id,[!A-Za-z0-9]* | --session-id,*[!A-Za-z0-9._-]*) return 1 ;;
  --session-id,*) agt_named=$2 ;;
  *) return 1 ;;
  esac
}
agt_tool='' agt_named=''
case $#,\${1-} in
1,autocommit) ;;
2,autocommit) if ! agt_option --session-id "$2"; then exec "$agt_full" "$@"; fi ;;
3,autocommit) if ! agt_option "$2" "$3"; then exec "$agt_full" "$@"; fi ;;
5,autocommit) if ! agt_option "$2" "$3" || ! agt_option "$4" "$5"; then exec "$agt_full" "$@"; fi ;;
2,hook)
  agt_tool=$2
  case $agt_tool in ${known.map(({ name }) => name).join(' | ')}) ;; *) exec "$agt_full" "$@" ;; esac
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
  exec "$agt_full" "$@" 3<&-
}
cd -P . 2>/dev/null || agt_run
case $agt_tool,\${GIT_DIR-}\${GIT_WORK_TREE-}\${GIT_COMMON_DIR-}\${GIT_INDEX_FILE-}\${GIT_OBJECT_DIRECTORY-}\${GIT_CEILING_DIRECTORIES-}\${GIT_DISCOVERY_ACROSS_FILESYSTEM-}\${GIT_REFERENCE_BACKEND-}\${AGT_TRACE-}\${AGT_DEBUG-} in
,?*) agt_run ;;
esac

# The session folder that this directory is in, or else the worktree.
agt_up=$PWD agt_id=''
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
    # A folder without a session; agt autocommit is not for those.
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
case $agt_named in ?*) agt_id=$agt_named ;; esac
agt_facts=$agt_front/$agt_id
if ! [ -f "$agt_facts" ] || ! [ -O "$agt_facts" ]; then agt_run; fi

# The facts. Roots for find become the arguments of this script, and patterns for grep a list.
agt_in='' agt_there='' agt_folder='' agt_tree='' agt_path='' agt_says='' agt_patterns='' agt_parts='' agt_split='' agt_checked=''
set --
while IFS= read -r agt_line <&3; do
  agt_value=\${agt_line#* }
  case $agt_line in
  '${FACTS_FORMAT}') agt_checked=begun ;;
  'in '*) agt_in=$agt_value ;;
  'root '*) set -- "$@" "$agt_value" ;;
  'roots '*)
    agt_there=" $agt_value "
    for agt_name in $agt_value; do set -- "$@" "$agt_in/$agt_name"; done
    ;;
  git-files)
    for agt_name in ${GIT_FILES.join(' ')}; do
      case $agt_there in *" $agt_name "*) continue ;; esac
      if [ -e "$agt_in/$agt_name" ] || [ -L "$agt_in/$agt_name" ]; then agt_run; fi
    done
    agt_there=''
    ;;
  'directories '*)
    for agt_name in $agt_value; do
      if ! [ -d "$agt_in/$agt_name" ] || [ -L "$agt_in/$agt_name" ]; then agt_run; fi
    done
    ;;
  'without '*)
    for agt_name in $agt_value; do
      if [ -e "$agt_in/$agt_name" ] || [ -L "$agt_in/$agt_name" ]; then agt_run; fi
    done
    ;;
  'file '*) [ -f "$agt_in/$agt_value" ] || agt_run ;;
  'is '*)
    IFS= read -r agt_line <&3 || agt_run
    { IFS= read -r agt_got <"$agt_in/$agt_value"; } 2>/dev/null || agt_run
    case $agt_got in "$agt_line") ;; *) agt_run ;; esac
    ;;
  'leads '*)
    IFS= read -r agt_line <&3 || agt_run
    [ "$agt_in/$agt_value" -ef "$agt_line" ] || agt_run
    ;;
  xdg*) case "xdg \${XDG_CONFIG_HOME-}" in "$agt_line") ;; *) agt_run ;; esac ;;
  'home '*) case \${HOME-} in "$agt_value") ;; *) agt_run ;; esac ;;
  'agt '*)
    [ "$agt_full" -ef "$agt_value" ] || agt_run
    set -- "$@" "$agt_value"
    ;;
  'folder '*)
    agt_folder=$agt_value agt_path=$agt_value
    ;;
  'tree '*)
    agt_tree=$agt_value
    ;;
  'unchecked '*) agt_path=$agt_value ;;
  'grep '*)
    agt_patterns="\${agt_patterns:+$agt_patterns
}$agt_value"
    ;;
  'split '*) agt_split=$agt_value ;;
  'part '*)
    agt_parts="\${agt_parts:+$agt_parts
}$agt_value"
    ;;
  'says '*) agt_says=$agt_value ;;
  end) agt_checked=$agt_checked-ended ;;
  *) agt_run ;;
  esac
done 3<"$agt_facts"
# One of the three is given.
case $agt_named in
'') case $agt_above,$agt_worktree in "$agt_folder," | ",$agt_tree") ;; *) agt_run ;; esac ;;
esac
case $agt_checked,$agt_tool$agt_says in begun-ended,?*) ;; *) agt_run ;; esac

# The clock.
agt_clock=$agt_front/${FRONT_TIMES.clock}$agt_id
{ true >"$agt_clock"; } 2>/dev/null || agt_run
if [ "$agt_facts" -nt "$agt_clock" ] || [ "$agt_clock" -nt "$agt_front/${FRONT_TIMES.until}$agt_id" ]; then agt_run; fi

# At the same time: mounts, and memory maps of processes in the folder; and everything that has a time. agt itself makes
# files in the session folder, but only there.
agt_newer=$(
  (
    cd -P /proc || echo agt
    set -- /proc/self/mountinfo
    for agt_process in [0-9]*; do
      cd -P "/proc/$agt_process/cwd" || continue
      case $PWD/ in "$agt_folder"/* | "\${agt_tree:-$agt_folder}"/*) set -- "$@" "/proc/$agt_process/maps" ;; esac
    done
    LC_ALL=C grep -q -e "$agt_patterns" "$@"
    # 2: a process has ended meanwhile, or is another user's.
    case $? in 1 | 2) [ -r "$1" ] || echo agt ;; *) echo agt ;; esac
  ) 2>/dev/null &
  case $agt_split in
  '') set -- "$@" "$agt_folder" \${agt_tree:+"$agt_tree"} ;;
  *)
    # A large folder in parts, by plain names that are relative to it. A line is for one process.
    cd -P "$agt_folder" || echo agt
    IFS='
'
    for agt_part in $agt_parts ". $agt_split"; do
      case $agt_part in '. '*) agt_depth='-maxdepth 1' ;; *) agt_depth='' ;; esac
      IFS=' '
      # shellcheck disable=SC2086
      (LC_ALL=C find $agt_part $agt_depth -path . -o -name .git -prune -o -cnewer "$agt_facts" -print -quit || echo agt) &
    done
    ;;
  esac 2>/dev/null
  LC_ALL=C exec find "$@" -path "$agt_path" -o -name .git -prune -o -cnewer "$agt_facts" -print -quit 2>/dev/null
) || agt_run
case $agt_newer in ?*) agt_run ;; esac

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

# Only now is the event read. agt then gets it from here.
agt_event=$(exec cat 2>/dev/null)
agt_tell() {
  PWD=$agt_pwd
  case $agt_old in ?*) OLDPWD=$agt_old ;; esac
  printf '%s' "$agt_event" | "$agt_full" hook "$agt_tool"
  exit $?
}
agt_head=$agt_event
if [ \${#agt_event} -gt ${HEAD_LENGTH} ]; then agt_head=$(printf '%.${HEAD_LENGTH}s' "$agt_event"); fi
case $agt_tool in
${known.map(successPart).join('\n')}
esac
agt_before=\${agt_head%%'"cwd":"'*}
for agt_part in "$agt_begin" "$agt_before"; do
  case $agt_part in "$agt_head") agt_tell ;; '{'*) ;; *) agt_tell ;; esac
  case \${agt_part#?} in *'{'* | *'['*) agt_tell ;; esac
done
agt_cwd=\${agt_head#"$agt_before"'"cwd":"'}
agt_cwd=\${agt_cwd%%'"'*}
case $agt_cwd in *\\\\*) agt_tell ;; /*) ;; *) agt_tell ;; esac
[ "$agt_cwd" -ef . ] || agt_tell
agt_note || agt_tell
exit 0
`;
}

/** Sets `agt_begin` to the part of the event before the field that says that a tool has succeeded. */
function successPart({ name, begins, ends, lacks = [] }: { name: string } & Succeeded): string {
  const checks = [
    ...lacks.map((words) => `  case $agt_event in *${singleQuoted(words)}*) agt_tell ;; esac\n`),
    ...(ends === undefined ? [] : [`  case $agt_event in *${singleQuoted(ends)}) ;; *) agt_tell ;; esac\n`]),
  ];
  return `${name})
  agt_begin=\${agt_head%%${singleQuoted(begins)}*}
${checks.join('')}  ;;`;
}
