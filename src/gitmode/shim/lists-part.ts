/**
 * The part of the shim's text for lists of refs: branch, tag, for-each-ref. Their words do not depend on the refs that
 * there are, but on the names of the remotes and on the branch that is checked out here.
 */
import { localNamespaces, type Prefixes, remoteNamespaces, SHARED_STASH } from '../../filter/agent-refs.ts';
import { globsOutside, pathGlobsOutside } from '../../filter/globs.ts';
import { HEADS, REMOTES, TAGS } from '../../git/files/ref-files.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { BRANCH, type ListOptions, TAG } from '../rules/branch-and-tag.ts';
import { FOR_EACH_REF } from '../rules/for-each-ref.ts';
import { MARKS } from './facts-file.ts';
import { caseList, namesOf, optionWords, withoutSlash } from './sh-text.ts';

export function listsPart(prefixes: Prefixes): string {
  const hiddenUnder = (root: string) =>
    localNamespaces([prefixes]).filter((namespace) => namespace.startsWith(root));
  const relative = (root: string) => hiddenUnder(root).map((namespace) => namespace.slice(root.length));
  const branches = globsOutside(relative(HEADS));
  const initials = [...new Set(namesOf(prefixes).map((name) => name[0]))].join('');
  const ownDirectories = localNamespaces([prefixes]).filter((namespace) => namespace.split('/').length === 3);
  const elsewhere = (hidden: readonly string[]) =>
    pathGlobsOutside([HEADS, TAGS, REMOTES, ...ownDirectories, ...hidden], 'refs/');
  const directory = (root: string) => `for-each-ref,${withoutSlash(root)} | for-each-ref,${root}`;
  return `${remotesPart(prefixes)}

agt_paths_of_branches() {
  agt_find_current "$@"
  agt_add="$agt_add ${pathGlobsOutside(hiddenUnder(HEADS), HEADS).join(' ')} $agt_current"
}
agt_paths_of_tags() { agt_add="$agt_add ${pathGlobsOutside(hiddenUnder(TAGS), TAGS).join(' ')}"; }

# Reads the words of the command. agt_map has a letter for each of them: d for those to drop.
agt_read_list() {
  agt_add='' agt_kind='' agt_options='' agt_listing='' agt_args='' agt_next='' agt_map='' agt_left=$agt_before
  for agt_word do
    case $agt_left in 0) ;; *) agt_left=$((agt_left - 1)) && continue ;; esac
    agt_map=\${agt_map}k
    case $agt_next in ?*) agt_next='' && continue ;; esac
    case $agt_command,$agt_word in
    branch,-a | branch,--all) agt_kind=all agt_options=1 ;;
    branch,-r | branch,--remotes) agt_kind=remotes agt_options=1 ;;
    branch,-[!-]?*)
      case \${agt_word#-} in
      *[!avr]* | *a*r* | *r*a*) agt_exec "$@" ;;
      *a*) agt_kind=all ;;
      *r*) agt_kind=remotes ;;
      esac
      agt_options=1
      ;;
${optionCases('branch', BRANCH)}
${optionCases('tag', TAG)}
${optionCases('for-each-ref', FOR_EACH_REF)}
    *,-* | for-each-ref,*[!A-Za-z0-9_./-]*) agt_exec "$@" ;;
    ${directory(HEADS)}) agt_drop && agt_paths_of_branches "$@" ;;
    ${directory(TAGS)}) agt_drop && agt_paths_of_tags ;;
    ${directory(REMOTES)}) agt_drop && agt_facts "$@" && agt_paths_of_remotes "$@" ;;
    for-each-ref,${HEADS}[!${initials}]* | for-each-ref,${TAGS}[!${initials}]*)
      agt_drop
      agt_add="$agt_add $agt_word"
      ;;
    for-each-ref,*) agt_exec "$@" ;;
    *, | *,[${initials}]* | *,*[!A-Za-z0-9_./*-]* | *,'*'*) agt_args=hidden ;;
    *) agt_args=\${agt_args:-visible} ;;
    esac
  done
  case $agt_next in required) agt_exec "$@" ;; esac
}
agt_drop() { agt_args=1 agt_map=\${agt_map%k}d; }

# Leaves words for all visible refs of the list, or lets git have the line as it is.
agt_list() {
  agt_read_list "$@"
  case $agt_command,$agt_args,$agt_kind,$agt_options,$agt_listing in
  branch,,remotes,*)
    agt_facts "$@"
    agt_initials=''
    agt_check_remotes "$@"
    case $agt_remotes in '') exec "$agt_real" "$@" ;; esac
    agt_names_of_remotes
    ;;
  branch,,*)
    case $agt_kind in
    all)
      agt_facts "$@"
      agt_initials='${initials}'
      agt_check_remotes "$@"
      ;;
    *) agt_remotes='' ;;
    esac
    agt_find_current "$@"
    case $agt_remotes in
    '') agt_add='${branches.join(' ')}' ;;
    *)
      agt_add='${branches.filter((word) => !word.startsWith('[')).join(' ')}'
      agt_names_of_remotes
      ;;
    esac
    agt_add="$agt_add \${agt_current#${HEADS}}"
    ;;
  tag,,*) agt_add='${globsOutside(relative(TAGS)).join(' ')}' ;;
  # The name of a new branch or tag, or patterns that match nothing that is hidden.
  *,hidden,,, | *,visible,,, | *,visible,,1,1) exec "$agt_real" "$@" ;;
  for-each-ref,,*)
    agt_facts "$@"
    agt_add='${elsewhere([]).join(' ')}'
    if agt_has_own_stash; then agt_add='${elsewhere([SHARED_STASH]).join(' ')}'; fi
    agt_paths_of_branches "$@"
    agt_paths_of_tags
    agt_paths_of_remotes "$@"
    ;;
  for-each-ref,*) ;;
  *) agt_exec "$@" ;;
  esac
}

case $agt_command in
branch | tag | for-each-ref)
  agt_settings "$@"
  agt_list "$@"
  shift "$agt_before"
  for agt_word do
    shift
    case $agt_map in k*) set -- "$@" "$agt_word" ;; esac
    agt_map=\${agt_map#?}
  done
  # The last option would take the next word as its value.
  case $agt_next in optional) set -- "$@" HEAD ;; esac
  case $agt_command in for-each-ref) ;; *) set -- "$@" --list ;; esac
  set -f
  # shellcheck disable=SC2086 # words without spaces
  exec "$agt_real" \${agt_from:+-C "$agt_from"} $agt_flags "$agt_command" "$@" -- $agt_add
  ;;
esac`;
}

function optionCases(command: string, { table, shaping, listing }: ListOptions): string {
  const cases = (lists: boolean, effect: string) => {
    const words = optionWords(table, (name) => !shaping.includes(name) && listing.includes(name) === lists);
    return [
      [words.whole, effect],
      [words.takesNext, `${effect} agt_next=required`],
      [words.mayTakeNext, `${effect} agt_next=optional`],
    ] as const;
  };
  return [...cases(false, 'agt_options=1'), ...cases(true, 'agt_options=1 agt_listing=1')]
    .filter(([words]) => words.length > 0)
    .map(([words, effect]) => {
      const patterns = words.map((word) => `${command},${word}`);
      return `${caseList(patterns, '    ')} ${effect} ;;`;
    })
    .join('\n');
}

/** Stands for the name of a remote in a pattern. */
const REMOTE = '\u0001';

/**
 * Functions that add words for all visible remote-tracking branches. The names of the remotes come from the facts; the
 * script finds the words for other names letter by letter, for remotes with different first letters.
 */
function remotesPart(prefixes: Prefixes): string {
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
