/** The part of the front that finds the session, or the folder without one, that the current directory is in. */
import { foldersDirectory } from '../../layout.ts';

/** The stores of attached folders. */
const FOLDERS = foldersDirectory('$agt_state');

/** Sets `agt_front`, the directory of facts, and `agt_id`. */
export function placePart(): string {
  return `# The session folder that this directory is in, or else the worktree.
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
}
