/** The agents that agt works with. Everything that differs between them is in the file of each. */
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import type { Integration } from './integration.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { qwen } from './qwen.ts';

export const INTEGRATIONS: readonly Integration[] = [claudeCode, codex, opencode, gemini, qwen, pi];

export function findIntegration(name: string): Integration | undefined {
  return INTEGRATIONS.find((integration) => integration.name === name);
}
