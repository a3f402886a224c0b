/** Starts of the executable by one test file, and those that a warm process has saved. */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const starts = { made: 0, saved: 0 };

const LIST = 'starts';

export function noteStarts(root: string): void {
  appendFileSync(join(root, LIST), `${starts.made} ${starts.saved}\n`);
}

export function printStarts(root: string): void {
  let [made, saved] = [0, 0];
  for (const line of readFileSync(join(root, LIST), 'latin1').split('\n')) {
    made += Number(line.split(' ')[0]);
    saved += Number(line.split(' ')[1] ?? 0);
  }
  const share = Math.round((100 * saved) / Math.max(1, made + saved));
  console.log(`commands of agt: ${made} starts, ${saved} in a warm process (${share} % of the starts saved)`);
}
