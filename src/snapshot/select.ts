/**
 * SNAPSHOT as people write it. What is tried, in this order: `@{n}`, a label, a commit, a time. A label wins over the
 * beginning of an object name, since somebody chose it; the newest snapshot of that label is meant.
 */
import { AgtError } from '../errors.ts';
import { type Git, gitText, resolveObject } from '../git/run/git.ts';
import { readHistory, type Snapshot, type SnapshotRefs } from './history.ts';

/** @throws AgtError where it means no state of the session. */
export async function resolveSnapshot(
  git: Git,
  refs: SnapshotRefs,
  spec: string,
  now: Date,
): Promise<Snapshot> {
  return findSnapshot(git, refs, await readHistory(git, refs), spec, now);
}

/** The same in a history that has been read. */
export async function findSnapshot(
  git: Git,
  refs: SnapshotRefs,
  history: readonly Snapshot[],
  spec: string,
  now: Date,
): Promise<Snapshot> {
  const unknown = (reason: string) =>
    new AgtError(`no state '${spec}' in session "${refs.session}": ${reason}`, {
      hints: [`see: agt session log ${refs.session}`],
    });
  if (history.length === 0) throw unknown('it has no autocommits yet');

  const back = spec === '@' ? '0' : /^@\{(\d+)\}$/.exec(spec)?.[1];
  if (back !== undefined) {
    const found = history[Number(back)];
    if (found === undefined) {
      const count = history.length;
      throw unknown(count === 1 ? 'it has 1 autocommit, @{0}' : `it has ${count}, @{0} to @{${count - 1}}`);
    }
    return found;
  }
  const text = spec.replace(/\s+/g, ' ').trim(); // as labels are kept
  const labelled = history.find(({ label }) => label === text);
  if (labelled !== undefined) return labelled;

  if (/^[0-9a-f]{4,64}$/i.test(spec)) {
    const matches = history.filter(({ commit }) => commit.startsWith(spec.toLowerCase()));
    if (matches.length > 1) throw unknown(`${matches.length} of its autocommits begin so`);
    if (matches[0] !== undefined) return matches[0];
  }
  const commit = await commitNamed(git, spec);
  const named = history.find((snapshot) => snapshot.commit === commit);
  if (named !== undefined) return named;

  const time = await parseTime(git, /^@\{(.+)\}$/.exec(text)?.[1] ?? text, now);
  if (time === undefined) {
    throw unknown(
      commit === undefined
        ? 'it is no label, commit or time'
        : `commit ${commit.slice(0, 10)} is none of its autocommits`,
    );
  }
  const found = history.find(({ at }) => at.getTime() <= time.getTime());
  if (found === undefined) throw unknown(`its first autocommit is of ${history.at(-1)?.at.toISOString()}`);
  return found;
}

function commitNamed(git: Git, spec: string): Promise<string | undefined> {
  return resolveObject(git, `${spec}^{commit}`);
}

/**
 * A time in git's date syntax, or undefined. git finds a time in everything (`step 4` is the 4th of this month), so that
 * a misspelt label would silently mean some state: a text is a time only where each word of it has to do with time.
 */
export async function parseTime(git: Git, text: string, now: Date): Promise<Date | undefined> {
  if (!looksLikeTime(text)) return undefined;
  const answer = await gitText(git, ['rev-parse', `--since=${text}`], {
    env: { GIT_TEST_DATE_NOW: String(Math.floor(now.getTime() / 1000)) },
  });
  const seconds = Number(answer.replace('--max-age=', ''));
  return Number.isSafeInteger(seconds) ? new Date(seconds * 1000) : undefined;
}

const NAMES =
  'january february march april may june july august september october november december ' +
  'monday tuesday wednesday thursday friday saturday sunday';
const DATES = 'now today yesterday noon midnight tea never';
const AMOUNTS = 'one two three four five six seven eight nine ten last ago';
const UNITS = 'second minute hour day week month year';
const OTHERS = 'at am pm t z utc gmt';
const list = (words: string) => words.split(' ');

function looksLikeTime(text: string): boolean {
  if (/[^\x20-\x7e]/.test(text)) return false;
  const words = text.toLowerCase().match(/[a-z_]+/g) ?? [];
  const isDate = (word: string) =>
    list(DATES).includes(word) || (word.length >= 3 && list(NAMES).some((name) => name.startsWith(word)));
  const isUnit = (word: string) => list(UNITS).includes(word.replace(/s$/, ''));
  const isAmount = (word: string) => list(AMOUNTS).includes(word);
  const isKnown = (word: string) =>
    isDate(word) || isUnit(word) || isAmount(word) || list(OTHERS).includes(word);
  if (!words.every(isKnown)) return false;
  // A number alone is a day of the month to git; a date, a time of day or seconds since 1970 are plain.
  return (
    words.some(isDate) ||
    (words.some(isUnit) && (words.some(isAmount) || /\d/.test(text))) ||
    /\d[-/.:]\d/.test(text) ||
    /^@?\d{9,}( [-+]\d{4})?$/.test(text)
  );
}
