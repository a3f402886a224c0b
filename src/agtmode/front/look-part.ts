/**
 * The parts of the front that look for anything newer than the last scan, for mounts and for memory maps. They run beside
 * the checks, and give up as soon as one of them has found something.
 */

/** Starts the processes that look. A large folder is left to `waitPart`. */
export function lookPart(): string {
  return `  exec 2>/dev/null
  export LC_ALL=C
  agt_differs() {
    echo changed
    exit 1
  }
  # Everything that has a time. agt itself makes files in the session folder, but only there.
  agt_find() {
    exec find "$@" -name .git -prune -o -cnewer "$agt_facts" '(' -path "$agt_path" -o -printf 'changed\\n' -quit ')'
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
}

/**
 * Comes after the checks. A large folder is looked at in parts, by plain names that are relative to it; a line of them is
 * for one process. The first that finds something ends the others.
 */
export function waitPart(): string {
  return `  case $agt_split in
  '') wait "$agt_finds" || agt_differs ;;
  *)
    {
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
          wait "$agt_one" || echo changed
        done
        echo looked
      fi
    } | {
      agt_started='' agt_found=''
      while read -r agt_word agt_rest; do
        case $agt_word in
        started) agt_started=$agt_rest ;;
        looked) break ;;
        *) agt_found=1 ;;
        esac
        # shellcheck disable=SC2086
        case $agt_found,$agt_started in 1,?*)
          kill $agt_started
          agt_differs
          ;;
        esac
      done
      case $agt_word,$agt_found in looked,) ;; *) agt_differs ;; esac
    } || exit
    ;;
  esac
  wait "$agt_grep"
  # 2: a process has ended meanwhile, or is another user's.
  case $? in 1 | 2) [ -r /proc/self/mountinfo ] || agt_differs ;; *) agt_differs ;; esac`;
}
