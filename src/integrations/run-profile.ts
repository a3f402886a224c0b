/**
 * Profiles that agt knows without settings, one for each agent: `agt session run --profile pi -- pi`. The conversation
 * lands in the session, logins and configuration stay where they are, and the agent calls agt in this run.
 */
import { basename } from 'node:path';
import type { Integration } from './integration.ts';
import { findIntegration } from './tools.ts';

/** The agent that the command line starts, if that is the one of the profile. */
export function agentOf(profile: string | undefined, words: readonly string[]): Integration | undefined {
  const integration = profile === undefined ? undefined : findIntegration(profile);
  return integration?.program === basename(words[0] ?? '') ? integration : undefined;
}
