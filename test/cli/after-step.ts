/** A folder in which an agent has made a step. */
import { join } from 'node:path';
import { git, makeRepository, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

/** An agent has written the file. */
export function afterStep(file: string) {
  const folder = makeRepository({ a: 'start\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('Write it');
  agent.begins('1');
  write(join(folder, file), 'agent\n');
  agent.ends('1');
  agent.stops();
  return folder;
}

/** Then a person has committed its file, and one of their own. */
export function folderWithCommits() {
  const folder = afterStep('b');
  write(join(folder, 'mine'), 'mine\n');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-qm', 'of a person');
  return folder;
}
