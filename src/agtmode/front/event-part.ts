/**
 * The part of the front that reads an event of an agent, once it knows whether something has changed. It answers the event
 * that a tool has succeeded in this directory, and passes every other one on to agt.
 */
import { singleQuoted } from '../../git/run/trace.ts';
import type { Integration } from '../../integrations/integration.ts';

export type Answered = Pick<Integration, 'name' | 'succeeded' | 'loadsDotEnv'>;
type Success = { readonly name: string } & NonNullable<Integration['succeeded']>;

/** So many characters of an event have to hold all that the script reads. */
const HEAD_LENGTH = 2_000;

/** The agents with events that the front answers. */
export function answered(integrations: readonly Answered[]): Success[] {
  return integrations.flatMap(({ name, succeeded }) =>
    succeeded === undefined ? [] : [{ name, ...succeeded }],
  );
}

export function eventPart(integrations: readonly Answered[]): string {
  return `# agt gets the event from here once it is read.
agt_read_event() {
  agt_event=$(exec cat 2>/dev/null)
  agt_head=$agt_event
  if [ \${#agt_event} -gt ${HEAD_LENGTH} ]; then agt_head=$(printf '%.${HEAD_LENGTH}s' "$agt_event"); fi
  case $agt_tool in
${answered(integrations).map(successPart).join('\n')}
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

/** Sets `agt_begin` to the part of the event before the field that says that a tool has succeeded. */
function successPart({ name, begins, before, ends, lacks = [] }: Success): string {
  const partBefore = (words: string) => `agt_begin=\${agt_head%%${singleQuoted(words)}*}`;
  const checks = [
    ...(before === undefined
      ? []
      : [`    case $agt_attached,$agt_begin in "1,$agt_head") ${partBefore(before)} ;; esac\n`]),
    ...lacks.map((words) => `    case $agt_event in *${singleQuoted(words)}*) agt_tell ;; esac\n`),
    ...(ends === undefined
      ? []
      : [`    case $agt_event in *${singleQuoted(ends)}) ;; *) agt_tell ;; esac\n`]),
  ];
  return `  ${name})
    ${partBefore(begins)}
${checks.join('')}    ;;`;
}
