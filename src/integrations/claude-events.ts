/** Claude Code's events and their hooks. Codex and Qwen Code have nearly the same ones. */
import {
  type EventJson,
  eventReader,
  firstWords,
  readBefore,
  readCall,
  readNotification,
  readPrompt,
  readTurn,
  readWait,
  textOf,
} from './event.ts';

export const readClaudeEvent = eventReader({
  SessionStart: (_, env) => ({
    ...{ kind: 'session-start', pid: agentIn(env), environmentFile: env['CLAUDE_ENV_FILE'] },
  }),
  UserPromptSubmit: readPrompt,
  PreToolUse: readBefore,
  PostToolUse: (json) => readCall(json, true),
  PostToolUseFailure: (json) => readCall(json, false),
  Notification: readNotification,
  PermissionRequest: readWait,
  SubagentStop: readTurn,
  Stop: readTurn,
  StopFailure: (json) => ({
    ...{ kind: 'turn', failure: firstWords(textOf(json, 'error') ?? 'unknown error') },
  }),
  SessionEnd: (_, env) => ({ kind: 'session-end', pid: agentIn(env) }),
  WorktreeCreate: (json, env) => ({
    ...{ kind: 'worktree-create', worktree: textOf(json, 'name') ?? 'worktree', pid: agentIn(env) },
  }),
  WorktreeRemove: (json, env) => ({
    ...{ kind: 'worktree-remove', path: textOf(json, 'worktree_path') ?? '', pid: agentIn(env) },
  }),
});

/** How they answer events, and what the front has to know of these. */
export const likeClaude = {
  quietEvents: { after: '"hook_event_name":"PostToolUse"', before: '"hook_event_name":"PreToolUse"' },
  blockPrompt: (reason: string) => JSON.stringify({ decision: 'block', reason }),
  addContext: (context: string) => outputFor('UserPromptSubmit', { additionalContext: context }),
  refuseTool: (reason: string) =>
    outputFor('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: reason }),
};

/** The event is the one that the agent has sent. */
export function outputFor(hookEventName: string, fields: object): string {
  return JSON.stringify({ hookSpecificOutput: { hookEventName, ...fields } });
}

/** Claude Code's and Qwen Code's setting. */
export function allHooksDisabled({ disableAllHooks }: EventJson): string | undefined {
  return disableAllHooks === true ? 'disableAllHooks' : undefined;
}

function agentIn({ CLAUDE_PID: pid = '' }: NodeJS.ProcessEnv): number | undefined {
  return /^[1-9]\d{0,9}$/.test(pid) ? Number(pid) : undefined;
}
