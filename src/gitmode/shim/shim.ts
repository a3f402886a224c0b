/**
 * The text of the shim: a POSIX sh script named `git`. It becomes real git at once when git mode would change nothing,
 * and else starts the executable. A JavaScript runtime takes tens of milliseconds to start; the script takes one sh
 * without a fork. The text comes from the tables that git mode itself uses, and holds the path of the real git.
 *
 * In doubt the script starts the executable, which is always right: for an unknown option, in an unusual environment,
 * and when the settings, git's configuration or the executable are newer than the script.
 *
 * Limit: the script finds no loose refs of a remote with more than two slashes in its name.
 */

import { branchNamespaces, localNamespaces, OWN_NAMESPACE, type Prefixes } from '../../filter/agent-refs.ts';
import { REMOTES } from '../../git/files/ref-files.ts';
import { SHIM_MARK } from '../../git/run/find-git.ts';
import { shellQuote, singleQuoted } from '../../git/run/trace.ts';
import {
  agentsInHistoryFile,
  agtDirectory,
  areaConfigFile,
  areaFile,
  configFile,
  decorationsFile,
  recordsDirectory,
} from '../../repository/layout.ts';
import { COMMANDS, type ShimAction, shimAction } from '../commands.ts';
import { decorationsWithoutRemotes } from './decorations-file.ts';

export interface ShimFacts {
  /** Absolute path of the real git. */
  readonly git: string;
  /** Absolute path of the executable under the name `git`. */
  readonly executable: string;
  /** Absolute path of the file that holds the user's settings. */
  readonly settingsFile: string;
  readonly prefixes: Prefixes;
}

/** In the script's words. */
const AGT = agtDirectory('$agt_common');

/** In the order of the table. */
function commandsWith(action: ShimAction): string[] {
  return [...COMMANDS].filter(([, command]) => shimAction(command) === action).map(([name]) => name);
}

export function shimText({ git, executable, settingsFile, prefixes }: ShimFacts): string {
  const first = commandsWith('git first');
  const refSets = commandsWith('ref sets');
  const walks = commandsWith('walk');
  const decorating = commandsWith('decorate');
  // With a global option, the commands that the script tests for first get to the list of all.
  const alwaysGit = [...first, ...commandsWith('git')].sort();
  const withoutSlash = (name: string) => name.replace(/\/$/, '');
  const names = [prefixes.branchPrefix, prefixes.workPrefix].map(withoutSlash);
  const loose = localNamespaces(prefixes).map(
    (namespace) => `"$agt_common"/${shellQuote(withoutSlash(namespace))}`,
  );
  const remote = ['*', '*/*', '*/*/*'].flatMap((depth) =>
    names.map((name) => `"$agt_common"/${REMOTES}${depth}/${shellQuote(name)}`),
  );
  const packed = [OWN_NAMESPACE.replace(/^refs/, ''), ...names.map((name) => `/${name}/`)];
  const current = branchNamespaces(prefixes).map((namespace) => `${shellQuote(`ref: ${namespace}`)}*`);
  return `#!/bin/sh
# ${SHIM_MARK}: git mode; starts the executable only when real git would print something else.
# Written by "agt shim install"; "agt shim uninstall" removes it. Changes made here are lost.
# shellcheck disable=SC3013 # -nt and -ef: dash, bash and busybox have them, with no process started

# Most calls end here, before sh has read the rest of this file. The tests below are in the order of frequency.
agt_fresh=''
case \${AGT_DISABLE_FILTER-}\${AGT_GIT_PATH-}\${AGT_TRACE-} in
'')
  if [ -x ${singleQuoted(git)} ] && ! [ ${singleQuoted(settingsFile)} -nt "$0" ] && ! [ ${singleQuoted(executable)} -nt "$0" ]; then
    case \${1-} in
    ${first.join(' | ')}) exec ${singleQuoted(git)} "$@" ;;
    esac
    agt_fresh=1
  fi
  ;;
esac
agt_real=${singleQuoted(git)}

# These options name a set of refs, choose decorations, or look as if they did: agt has to change the line.
agt_sets=''
case " $* " in
*' --all'* | *' --branches'* | *' --tags'* | *' --remotes'* | *' --glob'* | *' --reflog'* | *' --stdin'* | \\
  *' --exclude'* | *' -h '* | *' --clear'* | *decorate-*) agt_sets=1 ;;
esac
case $agt_fresh,$agt_sets,\${1-} in
${caseList(refSets.map((word) => `1,,${word}`))} exec "$agt_real" "$@" ;;
1,,branch | 1,,remote)
  case "$*" in
  'branch --show-current' | 'remote -v' | remote | 'remote get-url '*) exec "$agt_real" "$@" ;;
  esac
  ;;
esac

agt_full=${singleQuoted(executable)}
agt_exec() {
  if [ -x "$agt_full" ]; then exec "$agt_full" "$@"; fi
  echo "warning: agt: $agt_full is gone; nothing is hidden (agt shim uninstall)" >&2
  exec "$agt_real" "$@"
}

# agt itself decides when its settings or its executable are newer than this file, and when the environment has settings.
case $agt_fresh in '') agt_exec "$@" ;; esac

# A history in a repository of agt's. The executable hides agents' commits that are part of a visible history, and it
# reads settings of the repository, which may change the prefixes.
agt_plain() {
  if [ "$agt_sets" ] || [ -e "${agentsInHistoryFile(AGT)}" ] || [ -s "${configFile(AGT)}" ]; then agt_exec "$@"; fi
  if [ -f "${areaFile(AGT)}" ]; then
    IFS= read -r agt_line <"${areaFile(AGT)}" || agt_exec "$@"
    case $agt_line in /*) ;; *) agt_line=$agt_common/$agt_line ;; esac
    if [ -s "${areaConfigFile('$agt_line')}" ]; then agt_exec "$@"; fi
  fi
  case $agt_command in ${walks.join(' | ')}) exec "$agt_real" "$@" ;; esac
}

# The usual place of the repository: the current directory.
agt_command=\${1-} agt_dir='' agt_from='' agt_flags='' agt_config='' agt_before=1 agt_git=''
case \${GIT_DIR-}\${GIT_COMMON_DIR-}\${GIT_CEILING_DIRECTORIES-}\${GIT_DISCOVERY_ACROSS_FILESYSTEM-},$agt_command in
${caseList([...walks, ...decorating].map((word) => `,${word}`))}
  if [ -e .git/agt ] && [ -f .git/HEAD ]; then
    agt_git=.git agt_common=.git
    agt_plain "$@"
  fi
  ;;
esac

# Decorations: the options that the executable wrote for this worktree, unless something that they depend on is newer.
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
case $agt_git in ?*) agt_decorate "$@" ;; esac

case $agt_command in
-*)
  agt_command='' agt_next='' agt_before=0
  for agt_word do
    agt_before=$((agt_before + 1))
    case $agt_next in
    -C)
      case $agt_dir in ?*) agt_exec "$@" ;; esac
      agt_dir=$agt_word agt_from=$agt_word agt_next=''
      continue
      ;;
    -c)
      agt_config=1 agt_next=''
      continue
      ;;
    esac
    case $agt_word in
    -C | -c) agt_next=$agt_word ;;
    --no-pager | -P | -p | --paginate | --no-optional-locks | --literal-pathspecs) agt_flags="$agt_flags $agt_word" ;;
    -*) agt_exec "$@" ;;
    *)
      agt_command=$agt_word
      break
      ;;
    esac
  done
  ;;
esac

agt_passed='${['', '', ...alwaysGit, ''].join(' ')}'
case $agt_passed in *" $agt_command "*) exec "$agt_real" "$@" ;; esac
case $agt_sets,$agt_command in
${caseList(refSets.map((word) => `,${word}`))}
  exec "$agt_real" "$@"
  ;;
esac

# Finds the repository as git does. In an unusual case the executable does it.
case \${GIT_DIR-}\${GIT_COMMON_DIR-}\${GIT_CEILING_DIRECTORIES-}\${GIT_DISCOVERY_ACROSS_FILESYSTEM-} in ?*) agt_exec "$@" ;; esac
case $agt_dir in '') agt_dir=. ;; /* | ./*) ;; *) agt_dir=./$agt_dir ;; esac
until [ -e "$agt_dir/.git" ] || [ -f "$agt_dir/HEAD" ]; do
  if [ "$agt_dir" -ef / ] || ! [ -e "$agt_dir/.." ]; then exec "$agt_real" "$@"; fi
  agt_dir=$agt_dir/..
done
if [ -f "$agt_dir/.git/HEAD" ]; then
  agt_git=$agt_dir/.git agt_common=$agt_dir/.git
elif [ -f "$agt_dir/.git" ] && IFS= read -r agt_line <"$agt_dir/.git"; then
  case $agt_line in
  'gitdir: /'*) agt_git=\${agt_line#gitdir: } ;;
  'gitdir: '*) agt_git=$agt_dir/\${agt_line#gitdir: } ;;
  *) agt_exec "$@" ;;
  esac
  if [ -f "$agt_git/commondir" ] && IFS= read -r agt_line <"$agt_git/commondir"; then
    case $agt_line in /*) agt_common=$agt_line ;; *) agt_common=$agt_git/$agt_line ;; esac
  else
    agt_common=$agt_git
  fi
elif [ -f "$agt_dir/HEAD" ] && [ -d "$agt_dir/objects" ] && [ -d "$agt_dir/refs" ] && ! [ -e "$agt_dir/.git" ]; then
  agt_git=$agt_dir agt_common=$agt_dir
else
  agt_exec "$@"
fi

case $agt_command in
${caseList([...walks, ...decorating])}
  if [ -e "${AGT}" ]; then
    agt_plain "$@"
    agt_log "$@"
    agt_decorate "$@"
  fi
  ;;
${caseList(commandsWith('guard'))}
  # In a sandbox the executable captures the session before a command that can destroy work.
  if [ -d "${recordsDirectory(AGT)}" ] && [ -f "$agt_git/gitdir" ] && IFS= read -r agt_line <"$agt_git/gitdir"; then
    case $agt_line in */sandbox/.git) agt_exec "$@" ;; esac
  fi
  exec "$agt_real" "$@"
  ;;
esac

# In a repository without refs of agt: real git.
if [ -e "${AGT}" ] || [ -d "$agt_common/reftable" ]; then agt_exec "$@"; fi
for agt_path in ${loose.join(' ')} ${remote.join(' ')}; do
  if [ -e "$agt_path" ]; then agt_exec "$@"; fi
done
if [ -f "$agt_common/packed-refs" ] &&
  LC_ALL=C grep -qF ${packed.map((text) => `-e '${text}'`).join(' ')} "$agt_common/packed-refs"; then agt_exec "$@"; fi
exec "$agt_real" "$@"
`;
}

function caseList(words: readonly string[], indent = ''): string {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 100) lines.push(word);
    else lines[lines.length - 1] = `${last} | ${word}`;
  }
  return `${indent}${lines.join(` | \\\n  ${indent}`)})`;
}
