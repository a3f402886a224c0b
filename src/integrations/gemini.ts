/** Gemini CLI. Its documentation: https://geminicli.com/docs/hooks */
import { join } from 'node:path';
import {
  commonFields,
  type EventJson,
  firstWords,
  type HookEvent,
  objectOf,
  summaryOfCall,
  textOf,
} from './event.ts';
import { type HookGroup, jsonHooks } from './install/json-hooks.ts';
import type { Integration } from './integration.ts';

const NAME = 'gemini';

/** The name is for `/hooks` of Gemini CLI. Milliseconds. */
const fields = { name: 'agt', timeout: 30_000 };

/** Gemini CLI does not wait for hooks at the end of a session, so agt does without them. */
const GROUPS: readonly HookGroup[] = [
  { event: 'SessionStart', fields },
  { event: 'BeforeAgent', fields },
  { event: 'AfterTool', matcher: 'run_shell_command|write_file|replace|mcp_.*|.*__.*', fields },
  { event: 'AfterAgent', fields },
];

function readEvent(json: EventJson, _env: NodeJS.ProcessEnv, cwd: string): HookEvent {
  const event = commonFields(json, cwd);
  switch (event.name) {
    case 'SessionStart':
      return { ...event, kind: 'session-start' };
    case 'BeforeAgent':
      return { ...event, kind: 'prompt', prompt: textOf(json, 'prompt') ?? '' };
    case 'AfterTool':
      return {
        ...event,
        kind: 'tool',
        tool: firstWords(textOf(json, 'tool_name') ?? 'tool'),
        summary: summaryOfCall(objectOf(json, 'tool_input')),
        outcome: hasFailed(objectOf(json, 'tool_response')) ? 'failed' : 'succeeded',
      };
    case 'AfterAgent':
      return { ...event, kind: 'turn' };
    default:
      return { ...event, kind: 'other' };
  }
}

/** A command that fails is no error to Gemini CLI; it says so where it shows the result. */
function hasFailed(response: EventJson): boolean {
  return (
    response['error'] !== undefined || /^Command exited with code: /m.test(`${response['returnDisplay']}`)
  );
}

function switchedOff(settings: EventJson): string | undefined {
  const { enabled, disabled } = objectOf(settings, 'hooksConfig');
  if (enabled === false) return 'hooksConfig.enabled';
  return Array.isArray(disabled) && disabled.includes(fields.name) ? 'hooksConfig.disabled' : undefined;
}

export const gemini: Integration = {
  name: NAME,
  title: 'Gemini CLI',
  program: 'gemini',
  readEvent,
  succeeded: { begins: '"hook_event_name":"AfterTool"', lacks: ['"error"', 'Command exited with code: '] },
  blockPrompt: (reason) => JSON.stringify({ decision: 'deny', reason }),
  loadsDotEnv: true,
  mustNotFail: true,
  home: (env) => join(env['GEMINI_CLI_HOME'] || env['HOME'] || '', '.gemini'),
  file: 'settings.json',
  projectFile: '.gemini/settings.json',
  isolation: {
    variable: 'GEMINI_CLI_HOME',
    login: ['oauth_creds.json', 'gemini-credentials.json', 'google_accounts.json'],
  },
  copiesTranscript: true,
  settings: () => jsonHooks(NAME, GROUPS, switchedOff),
};
