/** The switch agt.enabled, or AGT_OFF, for commands that act by themselves. */
import type { Context } from './context.ts';

/** Why agt does nothing here; undefined if it is not switched off. */
export async function whyOff(context: Context): Promise<string | undefined> {
  if ((await context.repository()).settings.enabled) return undefined;
  const setting = (await context.settingValues()).find(({ name }) => name === 'agt.enabled');
  return `agt is switched off here: agt.enabled is ${setting?.value} (${setting?.origin})\n`;
}
