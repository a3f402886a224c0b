/** An agent whose hooks call agt, in one conversation. */
import { expect } from 'vitest';
import { AGT, run } from '../harness/world.ts';
import { silent } from './hooks.ts';

export function agentIn(cwd: string, tool: string, session_id: string) {
  const send = (hook_event_name: string, fields: object = {}, answer: object = silent) => {
    const input = JSON.stringify({ session_id, cwd, hook_event_name, ...fields });
    const answered = run(AGT, ['hook', tool], { cwd: '/', input: Buffer.from(input) });
    expect(answered).toMatchObject(answer);
    return answered.stdout;
  };
  const call = (id: string) => ({ tool_name: 'Bash', tool_use_id: id, tool_input: { command: `do ${id}` } });
  return {
    /** agt may answer that files are not as the agent left them. */
    says: (prompt: string) => send('UserPromptSubmit', { prompt }, { ...silent, stdout: expect.any(String) }),
    begins: (id: string) => send('PreToolUse', call(id)),
    ends: (id: string, answer?: object) => send('PostToolUse', call(id), answer),
    stops: () => send('Stop'),
  };
}
