/**
 * The text of the shim: a POSIX sh script named `git` that becomes real git at once wherever git mode would, and the
 * executable for the rest. Generated from the tables that git mode itself uses, with the real git's path inside.
 * Starting a JavaScript runtime costs tens of milliseconds; this costs one sh without a single fork.
 *
 * It errs towards the executable, whose answer is always right: for an unknown option, an unusual environment, and
 * where the settings, the configuration of git or the executable are newer than what it was written from.
 *
 * Limits: a repository whose remote has more than two slashes in its name is not looked through for loose refs.
 */

import type { Prefixes } from '../../filter/agent-refs.ts';
import { SHIM_MARK } from '../../git/run/find-git.ts';
import { shellQuote } from '../../git/run/trace.ts';
import {
  agentsInHistoryFile,
  agtDirectory,
  areaConfigFile,
  areaFile,
  configFile,
  decorationsFile,
  recordsDirectory,
} from '../../repository/layout.ts';
import { PASSED_ON } from '../command-line/commands.ts';
import { GUARDED } from '../guard/destroys.ts';
import { usualWords } from './log-words.ts';

export interface ShimFacts {
  /** Absolute path of the real git. */
  readonly git: string;
  /** Absolute path of the executable under the name `git`. */
  readonly executable: string;
  /** Absolute path of the file that holds the user's settings. */
  readonly settingsFile: string;
  readonly prefixes: Prefixes;
}

/** As the script spells it. */
const AGT = agtDirectory('$agt_common');

/** Commands whose sets of refs alone could reveal something. */
const SETS_ONLY = ['rev-parse', 'fast-export', 'format-patch'];
/** The same, but that an agent's commits in a visible history are left out. */
const WALKS = ['rev-list', 'shortlog'];
const DECORATING = ['log', 'show', 'whatchanged'];

const GUARDED_WORDS = GUARDED.filter((word) => PASSED_ON.has(word));
const PASSED_ON_WORDS = [...PASSED_ON].filter((word) => !GUARDED_WORDS.includes(word));
/** Of these, what is called most: a list that is short is read at once. */
const FREQUENT = [
  'status',
  'diff',
  'add',
  'commit',
  'ls-files',
  'symbolic-ref',
  'cat-file',
  'config',
  'merge-base',
];

export function shimText({ git, executable, settingsFile, prefixes }: ShimFacts): string {
  const names = [prefixes.branchPrefix, prefixes.workPrefix].map((prefix) => prefix.replace(/\/$/, ''));
  const loose = [...names.map((name) => `refs/heads/${name}`), `refs/tags/${names[0]}`, 'refs/agt'].map(
    (dir) => `"$agt_common"/${shellQuote(dir)}`,
  );
  const remote = ['*', '*/*', '*/*/*'].flatMap((depth) =>
    names.map((name) => `"$agt_common"/refs/remotes/${depth}/${shellQuote(name)}`),
  );
  const packed = ['/agt/', ...names.map((name) => `/${name}/`)];
  const current = names.map((name) => `${shellQuote(`ref: refs/heads/${name}/`)}*`);
  return `#!/bin/sh
# ${SHIM_MARK}: git mode without starting the executable where real git would print the same.
# Written by "agt shim install"; "agt shim uninstall" removes it. Changes made here are lost.
# shellcheck disable=SC3013 # -nt and -ef: dash, bash and busybox have them, with no process started

# Most calls end here; what stands below has not even been read by then. The order below is that of what is called.
agt_fresh=''
case \${AGT_DISABLE_FILTER-}\${AGT_GIT_PATH-}\${AGT_TRACE-} in
'')
  if [ -x ${quote(git)} ] && ! [ ${quote(settingsFile)} -nt "$0" ] && ! [ ${quote(executable)} -nt "$0" ]; then
    case \${1-} in
    ${FREQUENT.join(' | ')}) exec ${quote(git)} "$@" ;;
    esac
    agt_fresh=1
  fi
  ;;
esac
agt_real=${quote(git)}

# A set of refs has to be shortened; so has, to be sure, anything else that looks like one. Decorations may be chosen.
agt_sets=''
case " $* " in
*' --all'* | *' --branches'* | *' --tags'* | *' --remotes'* | *' --glob'* | *' --reflog'* | *' --stdin'* | \\
  *' --exclude'* | *' -h '* | *' --clear'* | *decorate-*) agt_sets=1 ;;
esac
case $agt_fresh,$agt_sets,\${1-} in
${caseList(SETS_ONLY.map((word) => `1,,${word}`))} exec "$agt_real" "$@" ;;
1,,branch | 1,,remote)
  case "$*" in
  'branch --show-current' | 'remote -v' | remote | 'remote get-url '*) exec "$agt_real" "$@" ;;
  esac
  ;;
esac

agt_full=${quote(executable)}
agt_exec() {
  if [ -x "$agt_full" ]; then exec "$agt_full" "$@"; fi
  echo "warning: agt: $agt_full is gone; nothing is hidden (agt shim uninstall)" >&2
  exec "$agt_real" "$@"
}

# Anything about agt itself that is newer than this file, or said by the environment, is the executable's to judge.
case $agt_fresh in '') agt_exec "$@" ;; esac

# A history in a repository of agt's: agents' commits in a visible one are the executable's business, and settings of
# this repository may name other prefixes.
agt_plain() {
  if [ "$agt_sets" ] || [ -e "${agentsInHistoryFile(AGT)}" ] || [ -s "${configFile(AGT)}" ]; then agt_exec "$@"; fi
  if [ -f "${areaFile(AGT)}" ]; then
    IFS= read -r agt_line <"${areaFile(AGT)}" || agt_exec "$@"
    case $agt_line in /*) ;; *) agt_line=$agt_common/$agt_line ;; esac
    if [ -s "${areaConfigFile('$agt_line')}" ]; then agt_exec "$@"; fi
  fi
  case $agt_command in ${WALKS.join(' | ')}) exec "$agt_real" "$@" ;; esac
}

# Found as plainly as it mostly is.
agt_command=\${1-} agt_dir='' agt_from='' agt_flags='' agt_config='' agt_before=1 agt_git=''
case \${GIT_DIR-}\${GIT_COMMON_DIR-}\${GIT_CEILING_DIRECTORIES-}\${GIT_DISCOVERY_ACROSS_FILESYSTEM-},$agt_command in
${caseList([...WALKS, ...DECORATING].map((word) => `,${word}`))}
  if [ -e .git/agt ] && [ -f .git/HEAD ]; then
    agt_git=.git agt_common=.git
    agt_plain "$@"
  fi
  ;;
esac

# Decorations: what the executable left for this worktree, while nothing that it depends on has changed.
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
  # Where nobody asks for them, git decorates for a terminal alone.
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
  *) set -- ${usualWords(prefixes).map(shellQuote).join(' ')} "$@" ;;
  esac
  set -f
  for agt_word in $agt_line; do
    case $agt_word in
    --decorate-refs-exclude=refs/* | --decorate-refs=*) set -- "$agt_word" "$@" ;;
    -*) ;;
    *) set -- ${names.map((name) => `"--decorate-refs-exclude=refs/remotes/$agt_word/"${shellQuote(name)}`).join(' ')} "$@" ;;
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

agt_passed='${['', '', ...PASSED_ON_WORDS, ''].join(' ')}'
case $agt_passed in *" $agt_command "*) exec "$agt_real" "$@" ;; esac
case $agt_sets,$agt_command in
${caseList(SETS_ONLY.map((word) => `,${word}`))}
  exec "$agt_real" "$@"
  ;;
esac

# The repository, found as git finds it. Where that is not plain to see, the executable looks.
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
${caseList([...WALKS, ...DECORATING])}
  if [ -e "${AGT}" ]; then
    agt_plain "$@"
    agt_log "$@"
    agt_decorate "$@"
  fi
  ;;
${caseList(GUARDED_WORDS)}
  # In a sandbox work is captured before a command that can destroy it; elsewhere the command is git's alone.
  if [ -d "${recordsDirectory(AGT)}" ] && [ -f "$agt_git/gitdir" ] && IFS= read -r agt_line <"$agt_git/gitdir"; then
    case $agt_line in */sandbox/.git) agt_exec "$@" ;; esac
  fi
  exec "$agt_real" "$@"
  ;;
esac

# Nothing of agt in it: real git.
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

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
