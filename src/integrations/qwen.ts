/** Qwen Code. Its events are those of Claude Code. Its documentation: https://qwenlm.github.io/qwen-code-docs */
import { join } from 'node:path';
import { allHooksDisabled, likeClaude, readClaudeEvent } from './claude-events.ts';
import { jsonHooks } from './install/json-hooks.ts';
import { mcpServers } from './install/mcp-server.ts';
import type { Integration } from './integration.ts';

const TOOLS = 'run_shell_command|write_file|edit|notebook_edit|mcp__.*';

const home: Integration['home'] = (env) => env['QWEN_HOME'] || join(env['HOME'] ?? '', '.qwen');

export const qwen: Integration = {
  name: 'qwen',
  title: 'Qwen Code',
  program: 'qwen',
  // Variables of Claude Code would come from a .env file of the project: agt must not write where they say.
  readEvent: (json, _env, cwd) => readClaudeEvent(json, {}, cwd),
  ...likeClaude,
  loadsDotEnv: true,
  home,
  file: 'settings.json',
  projectFile: '.qwen/settings.json',
  resume: {
    words: (id) => ['--resume', id],
    transcript: {
      directory: (env) => join(env['QWEN_RUNTIME_DIR'] || home(env), 'projects'),
      prompt: /"type":"user"/,
      result: /"type":"tool_result"/,
    },
  },
  conversations: { QWEN_RUNTIME_DIR: '{xdg}/qwen' },
  settings: jsonHooks({
    events: [
      ...['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure'],
      ...['Notification', 'SubagentStop', 'Stop', 'SessionEnd'],
    ],
    matchers: { PreToolUse: TOOLS, PostToolUse: TOOLS, PostToolUseFailure: TOOLS },
    // Seconds; Qwen Code takes 1000 and more for milliseconds.
    fields: () => ({ name: 'agt', timeout: 30 }),
    offSwitch: allHooksDisabled,
  }),
  mcp: { file: 'settings.json', projectFile: '.qwen/settings.json', settings: mcpServers },
};
