/** `agt list --watch`: the list again whenever it changes; with --json a line each time, for the page (src/page). */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, usageError } from '../../../errors.ts';
import { type Answer, partOf } from '../../command-line/report.ts';
import type { Context } from '../../context.ts';

/** A list of many sessions takes its time: agt waits some times as long before the next. */
const SHORTEST_MS = 1_000;
const REST = 4;
const CLEAR = '\x1b[H\x1b[2J';

export async function watchList(
  context: Context,
  asJson: boolean,
  list: (context: Context) => Promise<Answer>,
): Promise<number> {
  if (!asJson && context.columns === undefined)
    throw usageError('--watch needs a terminal to draw on', 'for a program: agt list --watch --json');
  const { ppid } = process;
  // The program that has started it may be killed, also before this one has begun: then nobody reads.
  for (let shown: string | undefined; process.ppid === ppid; ) {
    const start = performance.now();
    const listed = await partOf(await list({ ...context, columns: process.stdout.columns }));
    const { json, text = '', notes = '', warnings = '' } = listed;
    const next = asJson ? `${JSON.stringify(json)}\n` : text + notes + warnings;
    if (next !== shown && context.out(asJson ? next : `${CLEAR}${next}`) === false) break;
    shown = next;
    const end = performance.now() + Math.max(SHORTEST_MS, REST * (performance.now() - start));
    while (process.ppid === ppid && performance.now() < end) await sleep(SHORTEST_MS);
  }
  return EXIT.done;
}
