/** Claude Code's events. Codex and Qwen Code have nearly the same ones. */
import {
  commonFields,
  type EventJson,
  firstWords,
  type HookEvent,
  objectOf,
  type ReadEvent,
  summaryOfCall,
  textOf,
} from './event.ts';

export const readClaudeEvent: ReadEvent = (json, env, cwd): HookEvent => {
  const event = commonFields(json, cwd);
  const pid = processId(env['CLAUDE_PID']);
  switch (event.name) {
    case 'SessionStart':
      return { ...event, kind: 'session-start', pid, environmentFile: env['CLAUDE_ENV_FILE'] };
    case 'UserPromptSubmit':
      return { ...event, kind: 'prompt', prompt: textOf(json, 'prompt') ?? '' };
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return { ...event, kind: 'tool', ...callOf(json, event.name === 'PostToolUse') };
    case 'PreToolUse':
    case 'SubagentStop':
    case 'Stop':
      return { ...event, kind: 'turn' };
    case 'StopFailure':
      return { ...event, kind: 'turn', failure: firstWords(textOf(json, 'error') ?? 'unknown error') };
    case 'SessionEnd':
      return { ...event, kind: 'session-end', pid };
    case 'WorktreeCreate':
      return { ...event, kind: 'worktree-create', worktree: textOf(json, 'name') ?? 'worktree', pid };
    case 'WorktreeRemove':
      return { ...event, kind: 'worktree-remove', path: textOf(json, 'worktree_path') ?? '', pid };
    default:
      return { ...event, kind: 'other' };
  }
};

/** Claude Code's and Qwen Code's setting. */
export function allHooksDisabled({ disableAllHooks }: EventJson): string | undefined {
  return disableAllHooks === true ? 'disableAllHooks' : undefined;
}

function callOf(json: EventJson, succeeded: boolean) {
  return {
    tool: firstWords(textOf(json, 'tool_name') ?? 'tool'),
    callId: textOf(json, 'tool_use_id'),
    summary: summaryOfCall(objectOf(json, 'tool_input')),
    outcome: succeeded ? 'succeeded' : 'failed',
  } as const;
}

function processId(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}
