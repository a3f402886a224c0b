/** The switch agt.enabled, or AGT_OFF, for commands that act by themselves. */
import type { Context } from './context.ts';

/** Says why agt does nothing here, or prints `none`; false if it is not switched off. */
export async function saysOff(context: Context, none?: string): Promise<boolean> {
  if ((await context.repository()).settings.enabled) return false;
  const setting = (await context.settingValues()).find(({ name }) => name === 'agt.enabled');
  context.out(none ?? `agt is switched off here: agt.enabled is ${setting?.value} (${setting?.origin})\n`);
  return true;
}
