/** Gemini CLI. Its documentation: https://geminicli.com/docs/hooks */
import { join } from 'node:path';
import { outputFor } from './claude-events.ts';
import {
  type EventJson,
  eventReader,
  objectOf,
  readBefore,
  readCall,
  readNotification,
  readPrompt,
  readTurn,
} from './event.ts';
import { jsonHooks } from './install/json-hooks.ts';
import { mcpServers } from './install/mcp-server.ts';
import type { Integration } from './integration.ts';

/** For `/hooks` of Gemini CLI. */
const HOOK = 'agt';

const TOOLS = 'run_shell_command|write_file|replace|mcp_.*|.*__.*';

const readEvent = eventReader({
  SessionStart: () => ({ kind: 'session-start' }),
  BeforeAgent: readPrompt,
  BeforeTool: readBefore,
  AfterTool: (json) => readCall(json, !hasFailed(objectOf(json, 'tool_response'))),
  Notification: readNotification,
  AfterAgent: readTurn,
});

/** A command that fails is no error to Gemini CLI; it says so where it shows the result. */
function hasFailed(response: EventJson): boolean {
  return (
    response['error'] !== undefined || /^Command exited with code: /m.test(`${response['returnDisplay']}`)
  );
}

function offSwitch(settings: EventJson): string | undefined {
  const { enabled, disabled } = objectOf(settings, 'hooksConfig');
  if (enabled === false) return 'hooksConfig.enabled';
  return Array.isArray(disabled) && disabled.includes(HOOK) ? 'hooksConfig.disabled' : undefined;
}

export const gemini: Integration = {
  name: 'gemini',
  title: 'Gemini CLI',
  program: 'gemini',
  readEvent,
  quietEvents: {
    after: '"hook_event_name":"AfterTool"',
    before: '"hook_event_name":"BeforeTool"',
    lacks: ['"error"', 'Command exited with code: '],
  },
  blockPrompt: (reason) => JSON.stringify({ decision: 'deny', reason }),
  refuseTool: (reason) => JSON.stringify({ decision: 'deny', reason }),
  addContext: (context) => outputFor('BeforeAgent', { additionalContext: context }),
  loadsDotEnv: true,
  mustNotFail: true,
  home: (env) => join(env['GEMINI_CLI_HOME'] || env['HOME'] || '', '.gemini'),
  file: 'settings.json',
  projectFile: '.gemini/settings.json',
  isolation: {
    variable: 'GEMINI_CLI_HOME',
    login: ['oauth_creds.json', 'gemini-credentials.json', 'google_accounts.json'],
  },
  resume: { words: (id) => ['--resume', id] },
  copiesTranscript: true,
  /** Gemini CLI does not wait for hooks at the end of a session, so agt does without them. */
  settings: jsonHooks({
    events: ['SessionStart', 'BeforeAgent', 'BeforeTool', 'AfterTool', 'Notification', 'AfterAgent'],
    matchers: { BeforeTool: TOOLS, AfterTool: TOOLS },
    fields: () => ({ name: HOOK, timeout: 30_000 }), // milliseconds
    offSwitch,
  }),
  mcp: { file: 'settings.json', projectFile: '.gemini/settings.json', settings: mcpServers },
};
