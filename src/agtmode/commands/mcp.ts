import { loadBundle } from '../../process/load-agtmode.ts';
import { defineCommand } from '../command-line/command.ts';

export const mcp = defineCommand({
  usage: 'mcp',
  summary: 'let an agent look at its own steps and propose a restore, by the Model Context Protocol',
  description:
    'Serve the Model Context Protocol over standard input and output, for the session or folder of the current ' +
    'directory. The agent can list steps, read a file of a step and compare steps. It can propose a restore, and gets a ' +
    'list of what would change, with a token. Only with the token, and only if nothing has changed since, agt restores. ' +
    'agt hooks install --mcp writes this into the settings of an agent.',
  runsLong: true,
  examples: [['claude mcp add agt -- agt mcp', 'offer it to Claude Code in the project here']],
  run: async () => (await loadBundle('mcp.cjs', false)([])) ?? 0,
});
