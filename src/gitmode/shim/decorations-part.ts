/** The part of the shim's text that adds the decoration options of log and show. */
import { branchNamespaces, type Prefixes } from '../../filter/agent-refs.ts';
import { REMOTES } from '../../git/files/ref-files.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { decorationsFile } from '../../repository/layout.ts';
import { decorationsWithoutRemotes } from './decorations-file.ts';

/** Of the two directories of branches: `agtsessions`, `agt`. */
export function namesOf({ branchPrefix, workPrefix }: Prefixes): string[] {
  return [branchPrefix, workPrefix].map(withoutSlash);
}

export function withoutSlash(name: string): string {
  return name.replace(/\/$/, '');
}

export function decorationsPart(prefixes: Prefixes): string {
  const names = namesOf(prefixes);
  const current = branchNamespaces([prefixes]).map((namespace) => `${shellQuote(`ref: ${namespace}`)}*`);
  return `# Decorations: the options that the executable wrote for this worktree, unless something that they depend on is newer.
agt_log() {
  agt_words=${decorationsFile('$agt_git')}
  case $agt_config\${GIT_CONFIG_COUNT-}\${GIT_CONFIG_PARAMETERS-}\${GIT_CONFIG_SYSTEM-}\${GIT_CONFIG_GLOBAL-}\${GIT_CONFIG_NOSYSTEM-}\${GIT_REPLACE_REF_BASE-} in
  ?*) agt_exec "$@" ;;
  esac
  if ! [ -f "$agt_words" ] || [ "$agt_common/config" -nt "$agt_words" ] ||
    [ "$agt_git/config.worktree" -nt "$agt_words" ] || [ "\${HOME-}/.gitconfig" -nt "$agt_words" ] ||
    [ /etc/gitconfig -nt "$agt_words" ] ||
    [ "\${XDG_CONFIG_HOME:-\${HOME-}/.config}/git/config" -nt "$agt_words" ]; then agt_exec "$@"; fi
  agt_line=''
  if [ -s "$agt_words" ]; then IFS= read -r agt_line <"$agt_words" || agt_exec "$@"; fi
  # Without an option or a setting, git decorates only on a terminal.
  case $agt_line\${GIT_PAGER_IN_USE-} in
  '')
    case "$*" in
    *decorat* | *pretty* | *%*[dD]*) ;;
    *) if ! [ -t 1 ]; then exec "$agt_real" "$@"; fi ;;
    esac
    ;;
  esac
}
case $agt_git in ?*) agt_log "$@" ;; esac

agt_decorate() {
  agt_head='' agt_line=''
  if [ -s "$agt_words" ]; then
    { IFS= read -r agt_line && IFS= read -r agt_line && IFS= read -r agt_head; } <"$agt_words" || agt_exec "$@"
  fi
  if ! [ -f "$agt_git/HEAD" ]; then agt_exec "$@"; fi
  if [ "$agt_git/HEAD" -nt "$agt_words" ]; then
    IFS= read -r agt_now <"$agt_git/HEAD" || agt_exec "$@"
    case $agt_now in ${current.join(' | ')}) ;; *) agt_now='' ;; esac
    if [ "$agt_now" != "$agt_head" ]; then agt_exec "$@"; fi
  fi
  shift "$agt_before"
  case $agt_line in
  --*) ;;
  *) set -- ${decorationsWithoutRemotes(prefixes).map(shellQuote).join(' ')} "$@" ;;
  esac
  set -f
  for agt_word in $agt_line; do
    case $agt_word in
    --decorate-refs-exclude=refs/* | --decorate-refs=*) set -- "$agt_word" "$@" ;;
    -*) ;;
    *) set -- ${names.map((name) => `"--decorate-refs-exclude=${REMOTES}$agt_word/"${shellQuote(name)}`).join(' ')} "$@" ;;
    esac
  done
  # shellcheck disable=SC2086 # words without spaces
  exec "$agt_real" \${agt_from:+-C "$agt_from"} $agt_flags "$agt_command" "$@"
}
case $agt_git in ?*) agt_decorate "$@" ;; esac`;
}
