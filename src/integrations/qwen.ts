/** Qwen Code. Its events are those of Claude Code. Its documentation: https://qwenlm.github.io/qwen-code-docs */
import { join } from 'node:path';
import { allHooksDisabled, readClaudeEvent } from './claude-events.ts';
import { type HookGroup, jsonHooks } from './install/json-hooks.ts';
import type { Integration } from './integration.ts';

const NAME = 'qwen';

/** Seconds; Qwen Code takes 1000 and more for milliseconds. */
const fields = { name: 'agt', timeout: 30 };

const TOOLS = 'run_shell_command|write_file|edit|notebook_edit|mcp__.*';

const GROUPS: readonly HookGroup[] = [
  { event: 'SessionStart', fields },
  { event: 'UserPromptSubmit', fields },
  { event: 'PostToolUse', matcher: TOOLS, fields },
  { event: 'PostToolUseFailure', matcher: TOOLS, fields },
  { event: 'SubagentStop', fields },
  { event: 'Stop', fields },
  { event: 'SessionEnd', fields },
];

export const qwen: Integration = {
  name: NAME,
  title: 'Qwen Code',
  program: 'qwen',
  // Variables of Claude Code would come from a .env file of the project: agt must not write where they say.
  readEvent: (json, _env, cwd) => readClaudeEvent(json, {}, cwd),
  succeeded: { begins: '"hook_event_name":"PostToolUse"' },
  blockPrompt: (reason) => JSON.stringify({ decision: 'block', reason }),
  loadsDotEnv: true,
  home: (env) => env['QWEN_HOME'] || join(env['HOME'] ?? '', '.qwen'),
  file: 'settings.json',
  projectFile: '.qwen/settings.json',
  conversations: { QWEN_RUNTIME_DIR: '{xdg}/qwen' },
  settings: () => jsonHooks(NAME, GROUPS, allHooksDisabled),
};
