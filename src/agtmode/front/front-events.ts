/** Parts of the front: it reads an event of an agent, answers it or passes it on, and knows AGT_OFF. */
import { FILE_INPUTS } from '../../integrations/event.ts';
import type { Integration } from '../../integrations/integration.ts';
import { strayCalls } from '../../layout.ts';
import { singleQuoted } from '../../process/shell-quote.ts';
import { CALL_LETTERS } from '../../session/calls-at-work.ts';

export type Answered = Pick<Integration, 'name' | 'quietEvents' | 'loadsDotEnv'>;
type Quiet = { readonly name: string } & NonNullable<Integration['quietEvents']>;

/** So many characters of an event have to hold all that the script reads. */
const HEAD_LENGTH = 2_000;

/** The agents with events that the front answers. */
export function answered(integrations: readonly Answered[]): Quiet[] {
  return integrations.flatMap(({ name, quietEvents }) =>
    quietEvents === undefined ? [] : [{ name, ...quietEvents }],
  );
}

/**
 * Reads an event of an agent once it is known whether something has changed. It answers the events of a tool in this
 * directory, before it runs and after it has succeeded, and passes every other one on to agt.
 */
export function eventPart(integrations: readonly Answered[]): string {
  return `# agt gets the event from here once it is read.
agt_read_event() {
  agt_event=$(exec cat 2>/dev/null)
  agt_head=$agt_event
  if [ \${#agt_event} -gt ${HEAD_LENGTH} ]; then agt_head=$(printf '%.${HEAD_LENGTH}s' "$agt_event"); fi
  agt_will=''
  case $agt_tool in
${answered(integrations).map(quietPart).join('\n')}
  esac
  agt_before=\${agt_head%%'"cwd":"'*}
  for agt_part in "$agt_begin" "$agt_before"; do
    case $agt_part in "$agt_head") agt_tell ;; '{'*) ;; *) agt_tell ;; esac
    case \${agt_part#?} in *'{'* | *'['*) agt_tell ;; esac
  done
  agt_cwd=\${agt_head#"$agt_before"'"cwd":"'}
  agt_cwd=\${agt_cwd%%'"'*}
  case $agt_cwd in *\\\\*) agt_tell ;; /*) ;; *) agt_tell ;; esac
  [ "$agt_cwd" -ef . ] || agt_tell
  case $agt_above in
  ?*)
    if [ -e "${strayCalls('$agt_common/agt', '$agt_id')}" ]; then agt_tell; fi
    case $agt_will in 1) agt_look_at_call ;; esac
    ;;
  esac
}
# Which conversations are in the middle of a call (session/calls-at-work.ts).
agt_note_call() {
  agt_conversation=''
  for agt_name in conversation_id session_id session; do
    agt_part=\${agt_head#*"\\"$agt_name\\":\\""}
    case $agt_part in "$agt_head") ;; *) agt_conversation=\${agt_part%%'"'*} && break ;; esac
  done
  case $agt_conversation in *[!A-Za-z0-9._-]*) return ;; esac
  case $agt_will in 1) agt_line=${CALL_LETTERS.begins} ;; *) agt_line=${CALL_LETTERS.ends} ;; esac
  { printf %s "$agt_line" >>"\${agt_front%/front}/calls/$agt_id/$agt_tool.$agt_conversation"; } 2>/dev/null || :
}
# In a session agt may have to refuse to write a file that is elsewhere, and to record a command that names another worktree.
agt_look_at_call() {
  for agt_name in ${FILE_INPUTS.join(' ')}; do
    agt_part=\${agt_head#*"\\"$agt_name\\":\\""}
    case $agt_part in
    "$agt_head") ;;
    "$agt_above"/*)
      agt_part=\${agt_part%%'"'*}
      case $agt_part in */../* | *\\\\*) agt_tell ;; esac
      if agt_find_link "$agt_part"; then agt_tell; fi
      return
      ;;
    *) agt_tell ;;
    esac
  done
  # A patch names files in lines. The rest of a long event may name one, too.
  case $agt_head in *' File: /'* | *'Move to: /'* | *'File: ../'* | *'to: ../'*) agt_tell ;; "$agt_event") ;; *) agt_tell ;; esac
  if ! [ -f "$agt_facts" ] || [ "$agt_common/worktrees" -nt "$agt_facts" ]; then agt_tell; fi
  set -f
  IFS=$agt_newline
  for agt_name in $agt_outside; do
    agt_part=\${agt_name#"\${HOME:-/}"/}
    case $agt_event in *"$agt_name"[!A-Za-z0-9._-]* | *[~E}]/"$agt_part"[!A-Za-z0-9._-]*) agt_tell ;; esac
    # A blank in it may stand behind a sign that keeps it from the shell.
    agt_part=\${agt_name%%[!A-Za-z0-9._/-]*}
    case $agt_part,$agt_event in "$agt_name",*) ;; *"$agt_part"\\\\*) agt_tell ;; esac
  done
  # Other sandboxes.
  agt_part=$agt_event agt_name=\${agt_above%/*}/
  while case $agt_part in *"$agt_name"*) ;; *) false ;; esac; do
    agt_part=\${agt_part#*"$agt_name"}
    case $agt_part in "$agt_id"[!A-Za-z0-9._-]*) ;; *) agt_tell ;; esac
  done
  case $agt_event in *'"command":'*) agt_look_at_words "\${agt_event#*'"command":'}" ;; esac
  IFS=' '
  set +f
}
agt_look_at_words() {
  case $1 in *../..*) agt_tell ;; esac
  IFS=' ;|&<>()="\`\\'"'"
  for agt_part in $1; do
    case $agt_part in ?*/../*) agt_tell ;; "$agt_above"/* | [!/]*) ;; *) continue ;; esac
    # One to a program is there to be run.
    if agt_find_link "$agt_part" && { [ -d "$agt_link" ] || ! [ -x "$agt_link" ]; }; then agt_tell; fi
  done
}
# Sets agt_link to the first part of the path that is a link.
agt_find_link() {
  agt_link='' agt_left=$1
  case $1 in "$agt_above"/*) agt_link=$agt_above/ agt_left=\${1#"$agt_above"/} ;; esac
  while :; do
    agt_link=$agt_link\${agt_left%%/*}
    if [ -L "$agt_link" ]; then return; fi
    case $agt_left in */*) agt_left=\${agt_left#*/} agt_link=$agt_link/ ;; *) return 1 ;; esac
  done
}
agt_tell() {
  PWD=$agt_pwd
  case $agt_old in ?*) OLDPWD=$agt_old ;; esac
  printf '%s' "$agt_event" | "$agt_full" hook "$agt_tool" 3<&- 4<&- 6<&- 7<&-
  exit $?
}`;
}

/** AGT_OFF. The agent cannot do without an answer about a worktree, and a project's own variables do not count. */
export function offPart(integrations: readonly Answered[]): string {
  const doubtful = integrations.filter(({ loadsDotEnv }) => loadsDotEnv).map(({ name }) => name);
  return `case \${AGT_OFF-},$agt_tool in
,*) ;;
1,?* | true,?* | yes,?* | on,?*)
  case $agt_tool in ${doubtful.join(' | ')}) agt_run ;; esac
  agt_event=$(exec cat 2>/dev/null)
  case $agt_event in *'"Worktree'*) agt_tell ;; esac
  exit 0
  ;;
*,) agt_run ;;
esac`;
}

/** Sets `agt_begin` to the part of the event before the field that says which one of them it is. */
function quietPart({ name, after, before, ends, lacks = [] }: Quiet): string {
  const partBefore = (words: string) => `agt_begin=\${agt_head%%${singleQuoted(words)}*}`;
  const checks = [
    `    case $agt_begin in "$agt_head") ${partBefore(before)} agt_will=1 ;; esac\n`,
    ...lacks.map((words) => `    case $agt_event in *${singleQuoted(words)}*) agt_tell ;; esac\n`),
  ];
  const end = ends ? `    case $agt_event in *${singleQuoted(ends)}) ;; *) agt_tell ;; esac\n` : '';
  return `  ${name})
    ${partBefore(after)}
${checks.join('')}${end}    ;;`;
}
