/**
 * GitHub Copilot CLI. Under Claude Code's names of events it sends Claude Code's JSON. Its documentation:
 * https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference
 */
import { join } from 'node:path';
import { likeClaude, readClaudeEvent } from './claude-events.ts';
import { beforeFailure, objectOf, readCall, textOf } from './event.ts';
import { jsonHooks } from './install/json-hooks.ts';
import { jsonServer } from './install/mcp-server.ts';
import type { Integration } from './integration.ts';

/** A tool of a server is called `server-tool`. */
const TOOLS = 'Bash|write_bash|Write|Edit|MultiEdit|apply_patch|.*-.*|mcp__.*';

/** A command that fails is no failure of the tool to Copilot. */
const FAILED = /completed with exit code (?!0>)/;

export const copilot: Integration = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  program: 'copilot',
  readEvent: (json, _env, cwd) => {
    const result = textOf(objectOf(json, 'tool_result'), 'text_result_for_llm') ?? '';
    const event = readClaudeEvent(json, {}, cwd);
    return event.kind === 'tool' && FAILED.test(result) ? { ...event, ...readCall(json, false) } : event;
  },
  ...likeClaude,
  quietEvents: {
    ...likeClaude.quietEvents,
    lacks: beforeFailure('completed with exit code '),
  },
  blockPrompt: (responseContent) => JSON.stringify({ handled: true, responseContent }),
  addContext: (additionalContext) => JSON.stringify({ additionalContext }),
  mustNotFail: true,
  home: (env) => env['COPILOT_HOME'] || join(env['HOME'] ?? '', '.copilot'),
  file: 'hooks/agt.json',
  projectFile: '.github/hooks/agt.json',
  resume: { words: (id) => [`--resume=${id}`] },
  copiesTranscript: true,
  settings: jsonHooks({
    events: [
      ...['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure'],
      ...['SubagentStop', 'Stop', 'SessionEnd'],
    ],
    matchers: { PreToolUse: TOOLS, PostToolUse: TOOLS, PostToolUseFailure: TOOLS },
  }),
  mcp: {
    file: 'mcp-config.json',
    projectFile: '.mcp.json',
    settings: jsonServer('mcpServers', ([command = '', ...args]) => ({
      ...{ type: 'local', command, args, tools: ['*'] },
    })),
  },
};
