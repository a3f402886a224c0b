/**
 * Functions of the shim that add words for all visible remote-tracking branches. The names of the remotes come from the
 * facts; the script finds the words for other names letter by letter, for remotes with different first letters.
 */
import { type Prefixes, remoteNamespaces } from '../../filter/agent-refs.ts';
import { globsOutside, pathGlobsOutside } from '../../filter/globs.ts';
import { REMOTES } from '../../git/files/ref-files.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { MARKS } from './facts-file.ts';
import { namesOf } from './sh-text.ts';

/** Stands for the name of a remote in a pattern. */
const REMOTE = '\u0001';

export function remotesPart(prefixes: Prefixes): string {
  const namespaces = remoteNamespaces(REMOTE, [prefixes]);
  const words = (patterns: readonly string[]) => patterns.join(' ').replaceAll(REMOTE, `\${agt_word}`);
  const below = globsOutside(namespaces.map((namespace) => namespace.slice(`${REMOTES}${REMOTE}/`.length)));
  const [stem, more] = [`${REMOTES}\${agt_stem}`, `[!$agt_char]*`];
  return `# Starts the executable if there may be hidden refs of other remotes.
agt_know_remotes() {
  case $agt_marks in *${MARKS.oddRemotes}*) agt_exec "$@" ;; esac
  if [ "$agt_common/packed-refs" -nt "$agt_file" ]; then agt_exec "$@"; fi
  for agt_path in ${namesOf(prefixes)
    .map((name) => `"$agt_common"/${REMOTES}*/${shellQuote(name)}`)
    .join(' ')}; do
    if [ -e "$agt_path" ]; then
      agt_word=\${agt_path#"$agt_common/${REMOTES}"}
      case " $agt_remotes " in *" \${agt_word%%/*} "*) ;; *) agt_exec "$@" ;; esac
    fi
  done
}

# Adds the first letters of the remotes to agt_initials.
agt_check_remotes() {
  agt_know_remotes "$@"
  for agt_word in $agt_remotes; do
    agt_char=\${agt_word%"\${agt_word#?}"}
    case $agt_word in */*) agt_exec "$@" ;; esac
    case $agt_initials in *"$agt_char"*) agt_exec "$@" ;; esac
    agt_initials=$agt_initials$agt_char
  done
}

# Calls $1 for each beginning of the remote's name, and the character that follows.
agt_for_stems() {
  agt_rest=\${agt_word#?}
  agt_stem=\${agt_word%"$agt_rest"}
  while [ "$agt_rest" ]; do
    agt_tail=\${agt_rest#?}
    agt_char=\${agt_rest%"$agt_tail"}
    $1
    agt_stem=$agt_stem$agt_char agt_rest=$agt_tail
  done
}
agt_name_stem() { agt_add="$agt_add $agt_stem \${agt_stem}${more}"; }
agt_path_stem() { agt_add="$agt_add ${stem} ${stem}${more} ${stem}${more}/**"; }

agt_names_of_remotes() {
  agt_add="$agt_add [!$agt_initials]*"
  for agt_word in $agt_remotes; do
    agt_for_stems agt_name_stem
    agt_add="$agt_add $agt_word \${agt_word}[!/]* ${words(below.map((word) => `${REMOTE}/${word}`))}"
  done
}

agt_paths_of_remotes() {
  agt_initials=''
  agt_check_remotes "$@"
  case $agt_remotes in
  '')
    agt_add="$agt_add ${REMOTES.slice(0, -1)}"
    return
    ;;
  esac
  agt_add="$agt_add ${REMOTES}[!$agt_initials]* ${REMOTES}[!$agt_initials]*/**"
  for agt_word in $agt_remotes; do
    agt_for_stems agt_path_stem
    agt_add="$agt_add ${REMOTES}$agt_word?* ${REMOTES}$agt_word?*/**"
    agt_add="$agt_add ${words(pathGlobsOutside(namespaces, `${REMOTES}${REMOTE}/`))}"
  done
}`;
}
