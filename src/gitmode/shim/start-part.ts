/** The shim's part that starts the executable, with its own Node: the first one on PATH may be too old. */
import { CIRCLE_MARK } from '../../git/run/environment.ts';
import { singleQuoted } from '../../process/shell-quote.ts';

/** Below about 35, Node cannot start a git, or does not start itself. */
const FEWEST_DESCRIPTORS = 64;

/** `node`: undefined if the executable brings its own. */
export function startPart(executable: string, node: string | undefined): string {
  const program = [...(node === undefined ? [] : [singleQuoted(node)]), '"$agt_full"'];
  return `agt_full=${singleQuoted(executable)}
agt_exec() {
  case $agt_fresh in 1) unset ${CIRCLE_MARK} ;; esac
  if ${program.map((word) => `! [ -x ${word} ]`).join(' || ')}; then
    agt_word="$agt_full${node === undefined ? '' : ', or the Node that runs it,'} is gone"
  elif ! ulimit -S -n ${FEWEST_DESCRIPTORS} 2>/dev/null; then
    # Node itself raises the limit again, as far as it may.
    agt_word='fewer than ${FEWEST_DESCRIPTORS} open files are allowed'
  else
    exec ${program.join(' ')} "$@"
  fi
  echo "warning: agt: $agt_word; nothing is hidden (agt shim uninstall)" >&2
  # If this script was run by the git that it would run, another git on PATH ends the circle.
  case \${${CIRCLE_MARK}-} in
  ?*)
    set -f
    IFS=:
    for agt_word in $PATH; do
      agt_word=\${agt_word:-.}/git
      if [ -f "$agt_word" ] && [ -x "$agt_word" ] && ! [ "$agt_word" -ef "$agt_real" ] && ! [ "$agt_word" -ef "$0" ]; then
        exec "$agt_word" "$@"
      fi
    done
    ;;
  esac
  export ${CIRCLE_MARK}=1
  exec "$agt_real" "$@"
}`;
}
