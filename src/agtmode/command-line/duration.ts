/** Times that people write after an option. */
import { usageError } from '../../errors.ts';

const DAY = 86_400;

/** Of seconds, with or without a fraction, a day at most. @throws AgtError for anything else. */
export function parseDuration(option: string, text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(seconds))
    throw usageError(`invalid number of seconds "${text}"`, `for example: --${option} 5`);
  if (seconds > DAY) throw usageError(`--${option} is at most ${DAY} seconds, a day`);
  return seconds * 1000;
}
