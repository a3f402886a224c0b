/** Two agents at work in one checkout at the same time: no change of theirs is taken for a person's. */
import { expect, test } from 'vitest';
import { AGT, agtOk, makeRepository, run } from '../harness/world.ts';

const CALLS = 8;

/** In one process for each event, as agents call agt. */
const SCRIPT = `
tell() {
  printf '{"session_id":"%s","cwd":"%s","hook_event_name":"%s",%s}' "$1" "$PWD" "$2" "$3" | "$0" hook claude-code
}
work() {
  for n in $(seq ${CALLS}); do
    call='"tool_name":"Write","tool_use_id":"'$1$n'","tool_input":{"file_path":"'$PWD/$1$n'"}'
    tell $1 PreToolUse "$call"; echo $1 >$1$n; tell $1 PostToolUse "$call"
  done
}
for agent in a b; do tell $agent UserPromptSubmit '"prompt":"work"'; done
work a & work b & wait
`;

test('each file is of an agent, or of both, whoever captures it', () => {
  const folder = makeRepository({ f: 'f\n' });
  const { exitCode, stderr } = run('sh', ['-c', SCRIPT, AGT], { cwd: folder });
  expect([exitCode, stderr]).toEqual([0, '']);
  const log = JSON.parse(agtOk(folder, 'session', 'log', '--json')) as { author: string; added: number }[];
  const own = log.slice(0, -1).filter(({ added }) => added > 0);
  expect(own.reduce((sum, { added }) => sum + added, 0)).toBe(2 * CALLS);
  expect(own.filter(({ author }) => !['agent', 'unknown'].includes(author))).toEqual([]);
});
