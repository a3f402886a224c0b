/** How busy each session was: the number of its snapshots in each of the last periods. */
import { gitLines } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from '../session/record.ts';

/** Two hours, by five minutes; the oldest first. */
const PERIODS = 24;
const PERIOD_S = 300;

/** By session. One git, however many there are. */
export async function readPulse({ git }: Repository, records: readonly SessionRecord[], now: Date) {
  const end = Math.ceil(now.getTime() / 1000 / PERIOD_S) * PERIOD_S;
  const start = end - PERIODS * PERIOD_S;
  const pulses = new Map(records.map(({ branch }) => [branch, new Array<number>(PERIODS).fill(0)]));
  const words = ['log', '--first-parent', '--source', '--no-show-signature', '--ignore-missing'];
  const bases = [...new Set(records.map(({ from_commit: base }) => `^${base}`))];
  const args = [...words, `--since=${start}`, '--format=%ct %S', ...pulses.keys(), ...bases, '--'];
  for (const line of records.length === 0 ? [] : await gitLines(git, args)) {
    const [time = '', ref = ''] = line.split(' ');
    const pulse = pulses.get(ref as SessionRecord['branch']);
    const period = Math.floor((Number(time) - start) / PERIOD_S);
    if (pulse?.[period] !== undefined) pulse[period] += 1;
  }
  return (record: SessionRecord) => pulses.get(record.branch) ?? [];
}
