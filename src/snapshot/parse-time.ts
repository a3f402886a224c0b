/**
 * Parses a time in git's date syntax. git finds a time in any text: it reads "step 4" as the 4th of this
 * month, so a misspelt label would silently select a wrong snapshot. agt accepts a text only if every word in
 * it belongs to a time.
 */
import { type Git, gitText } from '../git/run/git.ts';

/** Undefined if the text is not a time. */
export async function parseTime(git: Git, text: string, now: Date): Promise<Date | undefined> {
  if (!looksLikeTime(text)) return undefined;
  const unixTime = /^@?(\d+)$/.exec(text)?.[1];
  // git takes a number that is too large for the present time.
  if (unixTime !== undefined) return validDate(Number(unixTime));
  const answer = await gitText(git, ['rev-parse', `--since=${text}`], {
    env: { GIT_TEST_DATE_NOW: String(Math.floor(now.getTime() / 1000)) },
  });
  const seconds = Number(answer.replace('--max-age=', ''));
  return validDate(seconds);
}

function validDate(seconds: number): Date | undefined {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

const list = (words: string) => words.split(' ');
const MONTHS_AND_DAYS = list(
  'january february march april may june july august september october november december ' +
    'monday tuesday wednesday thursday friday saturday sunday',
);
const DATES = list('now today yesterday noon midnight tea never');
const AMOUNTS = list('one two three four five six seven eight nine ten last ago');
const UNITS = list('second minute hour day week month year');
const OTHERS = list('at am pm t z utc gmt');
/** git accepts the name of a month or a day from this length on. */
const SHORTEST_NAME = 3;

function looksLikeTime(text: string): boolean {
  if (/[^\x20-\x7e]/.test(text)) return false;
  const words = text.toLowerCase().match(/[a-z_]+/g) ?? [];
  const isDate = (word: string) =>
    DATES.includes(word) ||
    (word.length >= SHORTEST_NAME && MONTHS_AND_DAYS.some((name) => name.startsWith(word)));
  const isUnit = (word: string) => UNITS.includes(word.replace(/s$/, ''));
  const isAmount = (word: string) => AMOUNTS.includes(word);
  const isKnown = (word: string) => isDate(word) || isUnit(word) || isAmount(word) || OTHERS.includes(word);
  if (!words.every(isKnown)) return false;
  const hasDuration = words.some(isUnit) && (words.some(isAmount) || /\d/.test(text));
  const hasDateOrClockTime = /\d[-/.:]\d/.test(text);
  const isUnixTime = /^@?\d{9,}( [-+]\d{4})?$/.test(text);
  // A number alone is not enough: git reads it as a day of the month.
  return words.some(isDate) || hasDuration || hasDateOrClockTime || isUnixTime;
}
