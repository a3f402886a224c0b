/** Durations that people write as the value of an option. */
import { usageError } from '../../errors.ts';

/** A longer wait or interval is surely a mistake; also, timers of Node overflow after 24 days. */
const LONGEST_SECONDS = 86_400;

/** Milliseconds of a number of seconds, such as `5` or `0.5`. @throws AgtError for anything else. */
export function parseDuration(option: string, text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(seconds))
    throw usageError(`invalid number of seconds "${text}"`, `for example: --${option} 5`);
  if (seconds > LONGEST_SECONDS)
    throw usageError(`--${option} is at most ${LONGEST_SECONDS} seconds, one day`);
  return seconds * 1000;
}
