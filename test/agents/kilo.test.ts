/** Kilo Code itself, with a plugin of agt. */
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { write } from '../harness/world.ts';
import { type AgentSpec, agentProblem } from './agent.ts';
import { describeAgent } from './every-agent.ts';
import { likeOpencode, SETTINGS } from './like-opencode.ts';

const kilo: AgentSpec = {
  name: 'kilo',
  program: 'cli-linux-x64/node_modules/@kilocode/cli-linux-x64/bin/kilo',
  prepare: (home) => {
    write(join(home, '.config/kilo/kilo.json'), JSON.stringify(SETTINGS));
    // Kilo Code waits for a package for plugins otherwise.
    write(join(home, '.npmrc'), 'offline=true\nfetch-retries=0\n');
  },
  env: () => ({ KILO_DISABLE_MODELS_FETCH: '1' }),
  args: (prompt) => ['run', prompt],
  settings: '.config/kilo/plugins/agt.js',
};

const problem = agentProblem(kilo);
beforeEach(({ skip }) => skip(problem !== undefined, problem));

describeAgent(kilo, {
  ...likeOpencode,
  conversation: /^xdg\/kilo\.db$/m,
});
