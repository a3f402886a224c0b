/** Where the command works: in a session, or in a worktree of which agt has snapshots. */
import { LONGEST_NAME } from '../../filter/store-name.ts';

export function placePart(): string {
  return `# Whether a session works in the user's own checkout, which may be a linked worktree.
agt_is_in_place() {
  if [ -e "$1/.git/agt-in-place" ]; then return 0; fi
  if ! [ -f "$1/.git" ] || ! [ -r "$1/.git" ]; then return 1; fi
  agt_linked=
  read -r agt_word agt_linked <"$1/.git" || :
  case $agt_linked in '') return 1 ;; /*) ;; *) agt_linked=$1/$agt_linked ;; esac
  [ -e "$agt_linked/agt-in-place" ]
}
# In a session folder the executable captures the session before a command that can destroy work.
agt_in_session() {
  agt_up=$agt_dir
  until [ -e "$agt_up/sandbox/.git" ] || agt_is_in_place "$agt_up"; do
    if [ "$agt_up" -ef / ] || ! [ -e "$agt_up/.." ]; then return 1; fi
    agt_up=$agt_up/..
  done
}
# Whether agt has snapshots of the worktree, or might: the executable knows the whole name of a store.
agt_is_known() {
  case \${XDG_STATE_HOME-} in /*) agt_folders=$XDG_STATE_HOME/agt/folders ;; *) agt_folders=\${HOME-}/.local/state/agt/folders ;; esac
  if ! [ -d "$agt_folders" ]; then return 1; fi
  agt_up=$agt_dir
  until [ -e "$agt_up/.git" ]; do
    if [ "$agt_up" -ef / ] || ! [ -e "$agt_up/.." ]; then return 1; fi
    agt_up=$agt_up/..
  done
  agt_up=$(cd -P "$agt_up" 2>/dev/null && pwd -P) || return 0
  agt_up=\${agt_up##*/}
  case $agt_up in '' | [!A-Za-z0-9]* | *[!A-Za-z0-9_-]* | *-) return 0 ;; esac
  if [ \${#agt_up} -gt ${LONGEST_NAME} ]; then return 0; fi
  for agt_path in "$agt_folders/$agt_up"-????????????.git; do
    if [ -e "$agt_path" ]; then return 0; fi
  done
  return 1
}
# A repository inside a sandbox has a stash of its own anyway.
agt_has_own_stash() {
  [ -e "$agt_git/agt-in-place" ] || { [ -e "$agt_git/commondir" ] && agt_in_session; }
}`;
}
