/**
 * The text of the shim: a POSIX sh script named `git`. It becomes real git at once when git mode would change nothing,
 * and else starts the executable. A JavaScript runtime takes tens of milliseconds to start; the script takes one sh
 * without a fork. The text comes from the tables that git mode itself uses, and holds the path of the real git.
 *
 * The script also changes lines by itself, when the words to add do not depend on the refs that there are.
 *
 * In doubt the script starts the executable, which is always right: for an unknown option, in an unusual environment,
 * and when the settings, git's configuration or the executable are newer than the script.
 *
 * Limit: the script finds no loose refs of a remote with more than two slashes in its name.
 */
import type { Prefixes } from '../../filter/agent-refs.ts';
import { CIRCLE_MARK } from '../../git/run/environment.ts';
import { SHIM_MARK } from '../../git/run/find-git.ts';
import { agentsInHistoryFile, areaConfigFile, areaFile, configFile } from '../../layout.ts';
import { singleQuoted } from '../../process/shell-quote.ts';
import { COMMANDS, type ShimAction, shimAction } from '../commands.ts';
import { REFUSABLE } from '../guard/refuse.ts';
import { NAMING_STASH } from '../stash/words.ts';
import { factsPart } from './facts-part.ts';
import { listsPart } from './lists-part.ts';
import { placePart } from './place-part.ts';
import { writtenBy } from './renew.ts';
import { otherPrefixesPart, repositoryPart, withoutAgtPart } from './repository-part.ts';
import { setsPart } from './sets-part.ts';
import { AGT, caseList, FACTS } from './sh-text.ts';
import { startPart } from './start-part.ts';
import { transfersPart } from './transfers-part.ts';

export interface ShimFacts {
  /** The version of the agt that writes the shim. */
  readonly version: string;
  /** Absolute path of the real git. */
  readonly git: string;
  /** Absolute path of the executable under the name `git`. */
  readonly executable: string;
  /** Absolute path of the Node that runs it; undefined if it brings its own. */
  readonly node?: string | undefined;
  /** Absolute path of the file that holds the user's settings. */
  readonly settingsFile: string;
  readonly prefixes: Prefixes;
  /** Whether agt.refuse is set. */
  readonly refuses: boolean;
  /** The directory of git's own programs. */
  readonly execPath: string;
}

/** In the order of the table. */
function commandsWith(action: ShimAction): string[] {
  return [...COMMANDS].filter(([, command]) => shimAction(command) === action).map(([name]) => name);
}

export function shimText({
  version,
  git,
  executable,
  node,
  settingsFile,
  prefixes,
  refuses,
  execPath,
}: ShimFacts): string {
  const first = commandsWith('git first');
  const amending = commandsWith('guard amend');
  const toExecutable = refuses
    ? `case $agt_command in ${REFUSABLE.join(' | ')}) agt_exec "$@" ;; esac\n`
    : '';
  const refSets = commandsWith('ref sets');
  const walks = commandsWith('walk');
  const decorating = commandsWith('decorate');
  const rewritten = [...commandsWith('list'), ...commandsWith('transfer')];
  // With a global option, the commands that the script tests for first get to the list of all.
  const alwaysGit = [...first, ...commandsWith('git')].sort();
  return `#!/bin/sh
# ${SHIM_MARK}: git mode; starts the executable only when real git would print something else.
${writtenBy(version)}
# shellcheck disable=SC3013,SC3045 # -nt, -ef, ulimit -S: dash, bash and busybox have them, with no process started
agt_real=${singleQuoted(git)}

# Most calls end here, before sh has read the rest of this file. The tests below are in the order of frequency.
agt_fresh=''
case \${AGT_DISABLE_FILTER-}\${AGT_GIT_PATH-}\${AGT_TRACE-}\${${CIRCLE_MARK}-} in
'')
  if [ -x "$agt_real" ] && ! [ ${singleQuoted(settingsFile)} -nt "$0" ] && ! [ ${singleQuoted(executable)} -nt "$0" ]; then
    export ${CIRCLE_MARK}=1
    case \${1-},$* in
    *' --output='* | *' --output '* | *' --am'* | *stash*) ;;
    ${[...first, ...(refuses ? [] : amending)].map((name) => `${name},*`).join(' | ')}) exec "$agt_real" "$@" ;;
    esac
    agt_fresh=1
  fi
  ;;
esac

# These options name a set of refs, choose decorations, or look as if they did: the line has to be changed.
agt_sets=''
case " $* " in
*' --glob'* | *' --git-c'* | *' --reflog'* | *' --stdin'* | *' --exclude'* | *' -h '* | *' --clear'* | *' --alternate'* | *decorate-* | \\
  *' --output='* | *' --output '*) agt_sets=agt ;;
*' --all'* | *' --branches'* | *' --tags'* | *' --remotes'*) agt_sets=some ;;
esac
# In a sandbox the stash is the session's own.
agt_stash=''
case " $* " in *' '[+^]stash* | *' stash '* | *stash[@^~:]* | *stash..* | *..stash* | *refs/stash*) agt_stash=1 ;; esac
case $agt_fresh,$agt_sets$agt_stash,\${1-} in
${caseList(refSets.map((word) => `1,,${word}`))} exec "$agt_real" "$@" ;;
1,,branch | 1,,remote)
  case "$*" in
  'branch --show-current' | 'remote -v' | 'remote --verbose' | remote | 'remote get-url '*) exec "$agt_real" "$@" ;;
  esac
  ;;
1,, | 1,,-v | 1,,--version | 1,,--help | 1,,--exec-path | 1,,--html-path | 1,,--man-path | 1,,--info-path)
  exec "$agt_real" "$@"
  ;;
esac

${startPart(executable, node)}

# agt itself decides when its settings or its executable are newer than this file, and when the environment has settings.
case $agt_fresh in '') agt_exec "$@" ;; esac

# Wherever the command runs, its output may go over a file of a session, and another repository may have refs to hide.
case " $* " in *' --output='* | *' --output '* | *' archive'*' -o'* | *' --alternate-refs '*) agt_exec "$@" ;; esac

# Whether a settings file holds comments alone. The executable leaves facts only if it does.
agt_no_settings() {
  if ! [ -f "$1" ]; then return; fi
  if [ -f "${FACTS}" ] && ! [ "$1" -nt "${FACTS}" ] && ! [ "${areaFile(AGT)}" -nt "${FACTS}" ]; then return; fi
  while IFS= read -r agt_line || [ "$agt_line" ]; do
    case $agt_line in '' | '#'* | ';'*) ;; *) return 1 ;; esac
  done <"$1"
}

# The executable reads settings of the repository, which may change the prefixes.
agt_settings() {
  case $agt_sets in agt) agt_exec "$@" ;; esac
  agt_no_settings "${configFile(AGT)}" || agt_exec "$@"
  ${otherPrefixesPart(prefixes)}
  if [ -f "${areaFile(AGT)}" ]; then
    IFS= read -r agt_line <"${areaFile(AGT)}" || agt_exec "$@"
    case $agt_line in /*) ;; *) agt_line=$agt_common/$agt_line ;; esac
    if ! [ -d "$agt_line" ]; then agt_exec "$@"; fi
    agt_no_settings "${areaConfigFile('$agt_line')}" || agt_exec "$@"
  fi
}

# A history in a repository of agt's. The executable hides agents' commits that are part of a visible history.
agt_plain() {
  if [ -e "${agentsInHistoryFile(AGT)}" ]; then agt_exec "$@"; fi
  agt_settings "$@"
  case $agt_command in
  ${walks.join(' | ')})
    # These load all decorations.
    case "$*" in *%*[dD]* | *' --bisect-all'* | *' --simplify-by-d'*) agt_exec "$@" ;; esac
    case $agt_sets in '') exec "$agt_real" "$@" ;; esac
    ;;
  esac
}

# The usual place of the repository: the current directory.
agt_command=\${1-} agt_dir='' agt_from='' agt_flags='' agt_config='' agt_before=1 agt_git='' agt_other='' agt_file=''
case $agt_sets$agt_stash\${GIT_DIR-}\${GIT_COMMON_DIR-}\${GIT_CEILING_DIRECTORIES-}\${GIT_DISCOVERY_ACROSS_FILESYSTEM-}\${GIT_REFERENCE_BACKEND-},$agt_command in
${caseList([...walks, ...decorating].map((word) => `,${word}`))}
  if [ -e .git/agt ] && [ -f .git/HEAD ]; then
    agt_git=.git agt_common=.git
    agt_plain "$@"
  fi
  ;;
esac

${factsPart(prefixes)}

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
    --*)
      agt_next=''
      continue
      ;;
    esac
    case $agt_word in
    -C | -c) agt_next=$agt_word ;;
    --git-dir | --work-tree | --namespace | --config-env) agt_other=1 agt_next=$agt_word ;;
    --git-dir=* | --work-tree=* | --namespace=* | --config-env=* | --bare) agt_other=1 ;;
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

${toExecutable}agt_passed='${['', '', ...alwaysGit, ''].join(' ')}'
agt_pass() {
  case $agt_passed in *" $agt_command "*) exec "$agt_real" "$@" ;; esac
  case $agt_command,$* in
  *' --am'*) ;;
  ${caseList(amending.map((name) => `${name},*`))} exec "$agt_real" "$@" ;;
  esac
  case $agt_sets,$agt_command in
  ${caseList(refSets.map((word) => `,${word}`))} exec "$agt_real" "$@" ;;
  esac
}
case $agt_stash in '') agt_pass "$@" ;; esac

# git prefers a program of this name to an alias.
agt_alias='' agt_known='${['', ...COMMANDS.keys(), ''].join(' ')}'
case $agt_known in
*" $agt_command "*) ;;
*)
  if [ -x ${singleQuoted(execPath)}/"git-$agt_command" ] || command -v "git-$agt_command" >/dev/null; then
    exec "$agt_real" "$@"
  fi
  ${refuses ? 'agt_exec "$@" # an alias' : 'agt_alias=1'}
  ;;
esac

# In an unusual case the executable finds the repository.
case $agt_other\${GIT_DIR-}\${GIT_WORK_TREE-}\${GIT_COMMON_DIR-}\${GIT_CEILING_DIRECTORIES-}\${GIT_DISCOVERY_ACROSS_FILESYSTEM-}\${GIT_REFERENCE_BACKEND-} in
?*) agt_exec "$@" ;;
esac
case $agt_dir in '') agt_dir=. ;; /* | ./*) ;; *) agt_dir=./$agt_dir ;; esac

${placePart()}
case $agt_stash,$agt_command in
${caseList(NAMING_STASH.map((name) => `1,${name}`))} if agt_in_session; then agt_exec "$@"; fi ;;
esac
case $agt_stash in 1) agt_pass "$@" ;; esac
case $agt_command in
${caseList([...commandsWith('guard'), ...amending])}
  if agt_in_session || agt_is_known; then agt_exec "$@"; fi
  exec "$agt_real" "$@"
  ;;
esac
# A list needs no snapshot, and neither does a plain fetch or push.
case $agt_alias$agt_command,$* in
1* | rebase,* | pull,* | filter-branch,* | fetch,*:* | push,*[/.]* | reflog,*' expire'* | reflog,*' delete'* | \\
  worktree,*' remove'* | worktree,*' add'* | branch,*' -'[dDfmMC]* | branch,*' --d'* | branch,*' --forc'* | \\
  branch,*' --mo'* | tag,*' -'[df]* | tag,*' --d'* | tag,*' --forc'*)
  if agt_is_known; then agt_exec "$@"; fi
  ;;
esac

${repositoryPart()}

case $agt_sets,$agt_command in
${caseList([...walks, ...decorating].map((word) => `,${word}`))}
  if [ -e "${AGT}" ]; then
    agt_plain "$@"
    agt_log "$@"
  fi
  ;;
esac

${withoutAgtPart(prefixes)}

# In a repository of agt's. With -c, git and the script might read other settings.
case $agt_config$agt_command in
${caseList([...rewritten, ...refSets, ...walks, ...decorating])} ;;
*) agt_exec "$@" ;;
esac

${listsPart(prefixes)}

${setsPart(prefixes, { walking: walks, decorating })}

${transfersPart(prefixes)}

agt_exec "$@"
`;
}
