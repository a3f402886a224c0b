/** A folder in which an agent works turn by turn. */
import { join } from 'node:path';
import { makeRepository, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

export function makeFolder() {
  const folder = makeRepository({ a: 'a\n', b: 'b\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  let calls = 0;
  const turn = (prompt: string, ...works: (() => void)[]) => {
    agent.says(prompt);
    for (const work of works) {
      const id = String(++calls);
      agent.begins(id);
      work();
      agent.ends(id);
    }
    agent.stops();
  };
  const edit = (name: string, text: string) => () => write(join(folder, name), text);
  return { folder, turn, edit };
}
