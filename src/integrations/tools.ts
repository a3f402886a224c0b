/** The agents that agt works with. Everything that differs between them is in the file of each. */
import { basename } from 'node:path';
import { amp } from './amp.ts';
import { claudeCode } from './claude-code.ts';
import { cline } from './cline.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { crush } from './crush.ts';
import { cursor } from './cursor.ts';
import { droid } from './droid.ts';
import { gemini } from './gemini.ts';
import type { Integration } from './integration.ts';
import { kilo, opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { qwen } from './qwen.ts';

export const INTEGRATIONS: readonly Integration[] = [
  ...[claudeCode, codex, opencode, gemini, qwen, pi],
  ...[copilot, cline, kilo, droid, amp, crush, cursor],
];

export function findIntegration(name: string): Integration | undefined {
  return INTEGRATIONS.find((integration) => integration.name === name);
}

export function isAgent(program: string): boolean {
  return INTEGRATIONS.some((integration) => integration.program === program);
}

/**
 * The agent that the command line starts, if that is the one of the profile. agt knows such profiles without settings:
 * `agt session run --profile pi -- pi`. The conversation lands in the session, logins and configuration stay where they
 * are, and the agent calls agt in this run.
 */
export function agentOf(profile: string | undefined, words: readonly string[]): Integration | undefined {
  const integration = profile === undefined ? undefined : findIntegration(profile);
  return integration?.program === basename(words[0] ?? '') ? integration : undefined;
}
