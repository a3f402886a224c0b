/** The agents that agt works with. Everything that differs between them is in the file of each. */
import { claudeCode } from './claude-code.ts';
import type { Integration } from './integration.ts';

export const INTEGRATIONS: readonly Integration[] = [claudeCode];

export function findIntegration(name: string): Integration | undefined {
  return INTEGRATIONS.find((integration) => integration.name === name);
}
