/** Qwen Code. Its events are those of Claude Code. Its documentation: https://qwenlm.github.io/qwen-code-docs */
import { join } from 'node:path';
import { allHooksDisabled, blockPrompt, readClaudeEvent } from './claude-events.ts';
import { jsonHooks } from './install/json-hooks.ts';
import type { Integration } from './integration.ts';

const NAME = 'qwen';

const TOOLS = 'run_shell_command|write_file|edit|notebook_edit|mcp__.*';

const HOOKS = {
  events: [
    ...['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure'],
    ...['SubagentStop', 'Stop', 'SessionEnd'],
  ],
  matchers: { PostToolUse: TOOLS, PostToolUseFailure: TOOLS },
  // Seconds; Qwen Code takes 1000 and more for milliseconds.
  fields: () => ({ name: 'agt', timeout: 30 }),
  offSwitch: allHooksDisabled,
};

export const qwen: Integration = {
  name: NAME,
  title: 'Qwen Code',
  program: 'qwen',
  // Variables of Claude Code would come from a .env file of the project: agt must not write where they say.
  readEvent: (json, _env, cwd) => readClaudeEvent(json, {}, cwd),
  succeeded: { begins: '"hook_event_name":"PostToolUse"' },
  blockPrompt,
  loadsDotEnv: true,
  home: (env) => env['QWEN_HOME'] || join(env['HOME'] ?? '', '.qwen'),
  file: 'settings.json',
  projectFile: '.qwen/settings.json',
  conversations: { QWEN_RUNTIME_DIR: '{xdg}/qwen' },
  settings: () => jsonHooks(NAME, HOOKS),
};
