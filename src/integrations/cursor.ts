/** Cursor, the editor and its CLI. Its documentation: https://cursor.com/docs/agent/hooks */
import { join } from 'node:path';
import { beforeFailure, eventReader, readBefore, readCall, readPrompt, readTurn, textOf } from './event.ts';
import { jsonHooks } from './install/json-hooks.ts';
import type { Integration } from './integration.ts';

const TOOLS = 'Shell|Write|Edit|StrReplace|Delete|MCP:.*';

const readEvent = eventReader(
  {
    sessionStart: () => ({ kind: 'session-start' }),
    beforeSubmitPrompt: readPrompt,
    preToolUse: readBefore,
    postToolUse: (json) => readCall(json, !/"exitCode": *-?[1-9]/.test(textOf(json, 'tool_output') ?? '')),
    postToolUseFailure: (json) => readCall(json, false),
    subagentStop: readTurn,
    stop: readTurn,
    sessionEnd: () => ({ kind: 'session-end' }),
  },
  (json, cwd) => {
    const roots = json['workspace_roots'];
    return {
      name: textOf(json, 'hook_event_name') ?? '',
      cwd: textOf(json, 'cwd') ?? (Array.isArray(roots) && typeof roots[0] === 'string' ? roots[0] : cwd),
      conversation: textOf(json, 'conversation_id'),
      transcript: textOf(json, 'transcript_path'),
    };
  },
);

export const cursor: Integration = {
  name: 'cursor',
  title: 'Cursor',
  program: 'cursor-agent',
  isByDocumentation: true,
  readEvent,
  quietEvents: {
    after: '"hook_event_name":"postToolUse"',
    before: '"hook_event_name":"preToolUse"',
    lacks: [...beforeFailure('exitCode\\":'), ...beforeFailure('exitCode\\": ')],
  },
  blockPrompt: (user_message) => JSON.stringify({ continue: false, user_message }),
  refuseTool: (agent_message) =>
    JSON.stringify({ permission: 'deny', user_message: agent_message, agent_message }),
  home: (env) => join(env['HOME'] ?? '', '.cursor'),
  file: 'hooks.json',
  projectFile: '.cursor/hooks.json',
  copiesTranscript: true,
  settings: jsonHooks({
    events: [
      ...['sessionStart', 'beforeSubmitPrompt', 'preToolUse', 'postToolUse', 'postToolUseFailure'],
      ...['subagentStop', 'stop', 'sessionEnd'],
    ],
    matchers: { preToolUse: TOOLS, postToolUse: TOOLS, postToolUseFailure: TOOLS },
    hasGroups: false,
    start: '{ "version": 1 }\n',
  }),
};
