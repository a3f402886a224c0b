/** Codex CLI. Its events are nearly those of Claude Code. Its documentation: https://developers.openai.com/codex/hooks */
import { readClaudeEvent } from './claude-events.ts';
import { codexHome, codexTrust } from './codex-trust.ts';
import { type HookGroup, jsonHooks } from './install/json-hooks.ts';
import type { Integration } from './integration.ts';

const NAME = 'codex';

/** Seconds. */
const fields = { timeout: 30 };

/** Codex allows no more at the end of a session. */
const ending = { timeout: 3 };

/** PreToolUse: a patch that comes through the shell has no event afterwards. */
const GROUPS: readonly HookGroup[] = [
  { event: 'SessionStart', fields },
  { event: 'UserPromptSubmit', fields },
  { event: 'PreToolUse', fields },
  { event: 'PostToolUse', fields },
  { event: 'SubagentStop', fields },
  { event: 'Stop', fields },
  { event: 'SessionEnd', fields: ending },
];

export const codex: Integration = {
  name: NAME,
  title: 'Codex',
  program: 'codex',
  readEvent: (json, _env, cwd) => readClaudeEvent(json, {}, cwd),
  succeeded: { begins: '"hook_event_name":"PostToolUse"', before: '"hook_event_name":"PreToolUse"' },
  blockPrompt: (reason) => JSON.stringify({ decision: 'block', reason }),
  home: codexHome,
  file: 'hooks.json',
  projectFile: '.codex/hooks.json',
  settings: () => jsonHooks(NAME, GROUPS),
  trust: codexTrust(NAME),
  isolation: { variable: 'CODEX_HOME', login: ['auth.json'] },
  copiesTranscript: true,
  // Its shell makes a PATH of its own. A commit writes into the repository, which is not in the sandbox.
  injectPlace: ({ path, commonDir }) => ({
    words: ['-c', `shell_environment_policy.set.PATH=${JSON.stringify(path)}`, '--add-dir', commonDir],
    variables: {},
  }),
};
