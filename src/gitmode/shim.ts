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
import type { Prefixes } from '../filter/spaces.ts';
import { SHIM_MARK } from '../git/find.ts';
import { shellQuote } from '../git/trace.ts';
import { AGENTS_IN_HISTORY } from './agents-in-history.ts';
import { PASSED_ON } from './commands.ts';
import { GUARDED } from './guard/destroys.ts';
import { LOG_WORDS, usualLogWords } from './log-words.ts';

export interface ShimFacts {
  /** Absolute path of the real git. */
  readonly git: string;
  /** Absolute path of the executable under the name `git`. */
  readonly executable: string;
  /** Absolute path of the file that holds the user's settings. */
  readonly settingsFile: string;
  readonly prefixes: Prefixes;
}

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
  const usual = usualLogWords(prefixes, []).join(' ');
  const current = names.map((name) => `'ref: refs/heads/${name}/'*`);
  return `#!/bin/sh
# ${SHIM_MARK}: git mode without starting the executable where real git would print the same.
# Written by "agt shim install"; "agt shim uninstall" removes it. Changes made here are lost.
# shellcheck disable=SC3013 # -nt and -ef: dash, bash and busybox have them, with no process started

agt_real=${quote(git)}
agt_full=${quote(executable)}
agt_settings=${quote(settingsFile)}

# Most calls end here; what stands below has not even been read by then.
agt_fresh=''
case \${AGT_DISABLE_FILTER-}\${AGT_GIT_PATH-}\${AGT_TRACE-} in
'')
  if [ -x "$agt_real" ] && ! [ "$agt_settings" -nt "$0" ] && ! [ "$agt_full" -nt "$0" ]; then
    case \${1-} in
    ${FREQUENT.join(' | ')}) exec "$agt_real" "$@" ;;
    esac
    agt_fresh=1
  fi
  ;;
esac

agt_exec() {
  if [ -x "$agt_full" ]; then exec "$agt_full" "$@"; fi
  echo "warning: agt: $agt_full is gone; nothing is hidden (agt shim uninstall)" >&2
  exec "$agt_real" "$@"
}

# Anything about agt itself that is newer than this file, or said by the environment, is the executable's to judge.
case $agt_fresh in '') agt_exec "$@" ;; esac

agt_command=\${1-} agt_dir='' agt_plain=1
case $agt_command in
-*)
  agt_command='' agt_next=''
  for agt_word do
    case $agt_next in
    -C)
      case $agt_dir in ?*) agt_exec "$@" ;; esac
      agt_dir=$agt_word agt_next=''
      continue
      ;;
    -c)
      agt_plain='' agt_next=''
      continue
      ;;
    esac
    case $agt_word in
    -C | -c) agt_next=$agt_word ;;
    --no-pager | -P | -p | --paginate | --no-optional-locks | --literal-pathspecs) ;;
    -*) agt_exec "$@" ;;
    *)
      agt_command=$agt_word
      break
      ;;
    esac
  done
  ;;
esac

case $agt_command in
${caseList([...WALKS, ...DECORATING, ...SETS_ONLY])} ;;
*)
  agt_passed='${['', '', ...PASSED_ON_WORDS, ''].join(' ')}'
  case $agt_passed in *" $agt_command "*) exec "$agt_real" "$@" ;; esac
  ;;
esac

# A set of refs has to be shortened; so has, to be sure, anything else that looks like one.
agt_sets=''
case " $* " in
*' --all'* | *' --branches'* | *' --tags'* | *' --remotes'* | *' --glob'* | *' --reflog'* | *' --stdin'* | \\
  *' --exclude'* | *' -h '*) agt_sets=1 ;;
*' --disable-agt '*) agt_exec "$@" ;;
esac
case $agt_sets$agt_command in
${caseList(SETS_ONLY)}
  exec "$agt_real" "$@"
  ;;
remote | branch)
  case "$*" in
  'branch --show-current' | 'remote -v' | remote | 'remote get-url '*) exec "$agt_real" "$@" ;;
  esac
  ;;
esac

# The repository, found as git finds it. Where that is not plain to see, the executable looks.
case \${GIT_DIR-}\${GIT_COMMON_DIR-}\${GIT_CEILING_DIRECTORIES-}\${GIT_DISCOVERY_ACROSS_FILESYSTEM-} in ?*) agt_exec "$@" ;; esac
case $agt_dir in '') agt_dir=. ;; /* | ./*) ;; *) agt_dir=./$agt_dir ;; esac
while :; do
  if [ -e "$agt_dir/.git" ] || [ -f "$agt_dir/HEAD" ]; then break; fi
  if [ "$agt_dir" -ef / ] || ! [ -e "$agt_dir/.." ]; then exec "$agt_real" "$@"; fi
  agt_dir=$agt_dir/..
done
if [ -d "$agt_dir/.git" ] && [ -f "$agt_dir/.git/HEAD" ]; then
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

# In a sandbox work is captured before a command that can destroy it; elsewhere the command is git's alone.
case $agt_command in
${caseList(GUARDED_WORDS)}
  if [ -d "$agt_common/agt/sessions" ] && [ -f "$agt_git/gitdir" ] && IFS= read -r agt_line <"$agt_git/gitdir"; then
    case $agt_line in */sandbox/.git) agt_exec "$@" ;; esac
  fi
  exec "$agt_real" "$@"
  ;;
esac
if [ -d "$agt_common/reftable" ]; then agt_exec "$@"; fi

# Nothing of agt in it: real git.
agt_hidden=''
if [ -e "$agt_common/agt" ]; then
  agt_hidden=1
else
  for agt_path in ${loose.join(' ')} ${remote.join(' ')}; do
    if [ -e "$agt_path" ]; then
      agt_hidden=1
      break
    fi
  done
fi
case $agt_hidden in
'')
  if ! [ -f "$agt_common/packed-refs" ] || ! LC_ALL=C grep -qF ${packed.map((text) => `-e '${text}'`).join(' ')} "$agt_common/packed-refs"; then
    exec "$agt_real" "$@"
  fi
  ;;
esac

# Settings of this repository may name other prefixes.
agt_area=''
if [ -f "$agt_common/agt/area" ] && IFS= read -r agt_area <"$agt_common/agt/area"; then
  case $agt_area in /*) ;; *) agt_area=$agt_common/$agt_area ;; esac
fi
for agt_path in "$agt_common/agt/config" "$agt_area/.agt/config"; do
  if [ -f "$agt_path" ]; then
    while IFS= read -r agt_line || [ -n "$agt_line" ]; do
      case $agt_line in '' | '#'*) ;; *) agt_exec "$@" ;; esac
    done <"$agt_path"
  fi
done

case $agt_command in
${caseList([...WALKS, ...DECORATING])} ;;
*) agt_exec "$@" ;;
esac
case $agt_sets in ?*) agt_exec "$@" ;; esac

# Agents' commits in a visible history are the executable's business.
if [ -e "$agt_common/agt/${AGENTS_IN_HISTORY}" ]; then agt_exec "$@"; fi
case $agt_command in
${caseList(WALKS)}
  exec "$agt_real" "$@"
  ;;
esac

# Decorations: the words that the executable left for this worktree, while nothing that they depend on has changed.
agt_words=$agt_git/${LOG_WORDS}
case $agt_plain\${GIT_CONFIG_COUNT-}\${GIT_CONFIG_PARAMETERS-}\${GIT_CONFIG_SYSTEM-}\${GIT_CONFIG_GLOBAL-}\${GIT_CONFIG_NOSYSTEM-}\${GIT_REPLACE_REF_BASE-} in
1) ;;
*) agt_exec "$@" ;;
esac
if [ "$agt_common/config" -nt "$agt_words" ] || [ "$agt_git/config.worktree" -nt "$agt_words" ] ||
  [ "\${HOME-}/.gitconfig" -nt "$agt_words" ] || [ /etc/gitconfig -nt "$agt_words" ] ||
  [ "\${XDG_CONFIG_HOME:-\${HOME-}/.config}/git/config" -nt "$agt_words" ]; then agt_exec "$@"; fi
{ IFS= read -r agt_version && IFS= read -r agt_head && IFS= read -r agt_line; } 2>/dev/null <"$agt_words" || agt_exec "$@"
IFS= read -r agt_now <"$agt_git/HEAD" || agt_exec "$@"
case $agt_now in ${current.join(' | ')}) ;; *) agt_now=- ;; esac
if [ "$agt_version" != ${LOG_WORDS}-1 ] || [ "$agt_now" != "$agt_head" ]; then agt_exec "$@"; fi
# Words that choose decorations, end the options, or might be the value of an option at the end of the line.
case " $* " in
*' -- '* | *' --end-of-options '* | *' --decorate-refs'* | *' --clear-decorations '*) agt_exec "$@" ;;
esac
for agt_word do :; done
case $agt_word in
-*)
  case $agt_word in
  --oneline | --graph | --decorate | --no-decorate | --stat | -p | -[0-9] | -[0-9][0-9] | -[0-9][0-9][0-9] | -[0-9][0-9][0-9][0-9] | -n[0-9]* | --*=*) ;;
  *) agt_exec "$@" ;;
  esac
  ;;
esac
case $agt_line in -) agt_line="${usual}" ;; esac
set -f
for agt_word in $agt_line; do
  case $agt_word in
  --decorate-refs-exclude=refs/* | --decorate-refs=*) set -- "$@" "$agt_word" ;;
  *) exec "$agt_full" "$@" ;;
  esac
done
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
