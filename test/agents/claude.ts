/** Claude Code, as its tests start it. */
import { type AgentSpec, MODEL } from './agent.ts';

export const claude: AgentSpec = {
  name: 'claude-code',
  program: `claude-code/node_modules/@anthropic-ai/claude-code-linux-${process.arch}/claude`,
  prepare: () => {},
  env: () => ({
    ANTHROPIC_BASE_URL: MODEL,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  args: (prompt) => [
    ...['-p', prompt, '--model', 'claude-sonnet-4-5', '--permission-mode', 'acceptEdits'],
    ...['--allowedTools', 'Bash Write Edit Agent'],
  ],
  settings: '.claude/settings.json',
};
