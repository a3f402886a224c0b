/**
 * Finds the snapshot that a user names. agt tries, in this order: `@{n}`, a label, the id of a call, a commit, its tree, a
 * time, the beginning of a label or prompt. A label wins over an abbreviated object name, because a person chose it. If
 * several snapshots have the label, the newest one wins.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError, listSome } from '../errors.ts';
import { shortOid } from '../git/files/ref-files.ts';
import { type Git, gitText, inDirectory, resolveObject } from '../git/run/git.ts';
import { localTime } from '../local-time.ts';
import { oneLine, promptIn } from './format.ts';
import { requireHistory, type Snapshot, type SnapshotRefs } from './history.ts';

/** `known`: the history, if the caller has read it. @throws AgtError if the session has no such snapshot. */
export async function resolveSnapshot(
  git: Git,
  refs: SnapshotRefs,
  spec: string,
  now: Date,
  known?: readonly Snapshot[],
): Promise<Snapshot> {
  const isHere = refs.sandbox !== undefined && existsSync(join(refs.sandbox, '.git'));
  const there = isHere ? inDirectory(git, refs.sandbox ?? '') : git;
  const found = await findByName(there, known ?? (await requireHistory(git, refs)), spec, now);
  if (typeof found !== 'string') return found;
  const [kind, sessions] =
    refs.sandbox === undefined ? ['the folder ', ['if you mean a session: agt list --everywhere']] : ['', []];
  throw new AgtError(`no snapshot "${spec}" of ${kind}"${refs.session}": ${found}`, {
    hints: [`see: ${refs.list}`, ...sessions],
  });
}

type Reason = string;

/** The snapshot, or the reason why there is none. */
async function findByName(
  git: Git,
  history: readonly Snapshot[],
  spec: string,
  now: Date,
): Promise<Snapshot | Reason> {
  if (history.length === 0) return 'it has no snapshots yet';
  const number = spec === '@' ? '0' : /^@\{(\d+)\}$/.exec(spec)?.[1];
  if (number !== undefined) return history[Number(number)] ?? describeRange(history.length);
  const text = oneLine(spec); // agt stores labels in this form
  const found =
    history.find(({ label }) => label === text) ??
    history.find(({ call }) => call?.id === text) ??
    findByAbbreviation(history, spec) ??
    (await findByRevisionOrTime(git, history, spec, text, now));
  return typeof found === 'string' ? (findByBeginning(history, text) ?? found) : found;
}

/** Fewer letters of a label or prompt are a slip, as `2` is one of `@{2}`. */
const SHORTEST_BEGINNING = 3;
const LISTED = 3;

function findByBeginning(history: readonly Snapshot[], text: string): Snapshot | Reason | undefined {
  if (text.length < SHORTEST_BEGINNING) return undefined;
  const begins = (name: string | undefined) => name?.startsWith(text) === true;
  const matches = history.filter((snapshot) => begins(snapshot.label) || begins(promptIn(snapshot)));
  const labels = [...new Set(matches.map(({ label }) => `"${label}"`))];
  const named = labels.length > 1 ? matches.find((snapshot) => promptIn(snapshot) === text) : matches[0];
  return (
    named ?? (labels.length > 1 ? `several labels begin with it: ${listSome(labels, LISTED)}` : undefined)
  );
}

function describeRange(count: number): Reason {
  return count === 1 ? 'it has 1 snapshot, @{0}' : `it has ${count} snapshots, @{0} to @{${count - 1}}`;
}

function findByAbbreviation(history: readonly Snapshot[], spec: string): Snapshot | Reason | undefined {
  if (!/^[0-9a-f]{4,64}$/i.test(spec)) return undefined;
  const matches = history.filter(({ commit }) => commit.startsWith(spec.toLowerCase()));
  if (matches.length > 1) return `the names of ${matches.length} snapshots begin with it`;
  return matches[0] ?? findByTree(history, spec.toLowerCase());
}

/** In a folder, agt does not see the commits of the user. */
function asHead(history: readonly Snapshot[], text: string): Reason | undefined {
  const found = /^[0-9a-f]{7,}$/.test(text) ? history.find(({ head }) => head?.startsWith(text)) : undefined;
  return found && `it is a commit; the newest snapshot with it as HEAD is ${shortOid(found.commit)}`;
}

/** A tree stays the same when `agt gc` gives new names to the commits. Several snapshots may have it. */
function findByTree(history: readonly Snapshot[], spec: string): Snapshot | Reason | undefined {
  const matches = history.filter(({ tree }) => tree.startsWith(spec));
  const trees = new Set(matches.map(({ tree }) => tree));
  return trees.size > 1 ? `the names of ${trees.size} trees of snapshots begin with it` : matches[0];
}

async function findByRevisionOrTime(
  git: Git,
  history: readonly Snapshot[],
  spec: string,
  text: string,
  now: Date,
): Promise<Snapshot | Reason> {
  const commit = await resolveObject(git, `${spec}^{commit}`);
  const named = history.find((snapshot) => snapshot.commit === commit);
  if (named !== undefined) return named;
  const isCommit = commit !== undefined && /^\d+$/.test(text);
  const time = isCommit ? undefined : await parseTime(git, /^@\{(.+)\}$/.exec(text)?.[1] ?? text, now);
  if (time === undefined && IN_FUTURE.test(text)) return inFuture(text);
  if (time === undefined) {
    return commit === undefined
      ? (asHead(history, text) ?? 'it is not a label or its beginning, a call, a commit or a time')
      : `commit ${shortOid(commit)} is not one of its snapshots`;
  }
  // The clock may have gone backwards since.
  const last = Math.max(now.getTime(), ...history.map((snapshot) => snapshot.time.getTime()));
  if (time.getTime() > last) return inFuture(localTime(time));
  const newest = history.find((snapshot) => snapshot.time.getTime() <= time.getTime());
  return newest ?? `its first snapshot is from ${localTime(history.at(-1)?.time ?? time)}`;
}

/** git knows times of the past alone. */
const IN_FUTURE = /^(tomorrow\b|next \w+$|in (an? |\d+ )\w+$)/i;
const inFuture = (time: string): Reason => `that time, ${time}, is in the future`;

/**
 * A time in git's date syntax; undefined for another text. git finds a time in any text: it reads "step 4" as the 4th of
 * this month, so a misspelt label would silently select a wrong snapshot. So every word has to belong to a time.
 */
export async function parseTime(git: Git, text: string, now: Date): Promise<Date | undefined> {
  if (!looksLikeTime(text) || !isPossible(text)) return undefined;
  const unixTime = /^@?(\d+)$/.exec(text)?.[1];
  // git takes a number that is too large for the present time.
  if (unixTime !== undefined) return validDate(Number(unixTime));
  const today = now.toLocaleDateString('en', { weekday: 'long' }).toLowerCase();
  const last = (day: string) => (today.startsWith(day.toLowerCase()) ? 'today' : `last ${day}`);
  const answer = await gitText(git, ['rev-parse', `--since=${text.replace(WEEKDAY, last)}`], {
    env: { GIT_TEST_DATE_NOW: String(Math.floor(now.getTime() / 1000)) },
  });
  const seconds = Number(answer.replace('--max-age=', ''));
  return validDate(seconds);
}

/** Without a date, git takes it for today; on a Friday, `last friday` is a week ago. */
const WEEKDAY = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*(?=$| (at )?\S*(:\S*|\d[ap]m)$)/i;

/** git takes another day or time for one that does not exist. */
function isPossible(text: string): boolean {
  const [, year, month, day] = /\b(\d{4})-(\d+)-(\d+)/.exec(text)?.map(Number) ?? [0, 1970, 1, 1];
  const date = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day));
  const isDay = date.getUTCMonth() + 1 === month && date.getUTCDate() === day;
  return isDay && !/(?<![:\d])(2[4-9]|[3-9]\d):|:[6-9]\d/.test(text);
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
