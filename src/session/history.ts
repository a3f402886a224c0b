/**
 * The moments of a session: its shadow branch's first-parent chain, newest first, read from agt's own tip. A fork's
 * chain goes on into the session that it came from.
 */
import { AgtError } from '../errors.ts';
import { gitAnswer, gitText } from '../git/git.ts';
import { type SessionRecord, tipRef } from './record.ts';
import type { Repository } from './repository.ts';

export interface Moment {
  readonly commit: string;
  /** Undefined for the first autocommit of a chain, whose parent is no state. */
  readonly previous: string | undefined;
  readonly at: Date;
  /** Whose state it is: another session's id before the point of a fork. */
  readonly session: string;
  readonly label: string | undefined;
  readonly tool: string | undefined;
  /** The state that a restore brought back. */
  readonly restored: string | undefined;
  /** The agent's HEAD then. */
  readonly head: string | undefined;
}

const FIELD = '\x1f';
const TRAILERS = ['Session', 'Label', 'Tool', 'Restored', 'Head'] as const;

export async function readHistory(repository: Repository, record: SessionRecord): Promise<Moment[]> {
  const trailers = TRAILERS.map((name) => `%(trailers:key=Agt-${name},valueonly,unfold,separator=)`);
  const format = ['%H', '%P', '%ct', ...trailers].join('%x1f');
  const tip = await gitAnswer(repository.git, [
    'rev-parse',
    '--verify',
    '--quiet',
    tipRef(record.session_id),
  ]);
  const start = tip ?? record.branch;
  const output = await gitText(repository.git, [
    'log',
    '--first-parent',
    '--fixed-strings',
    `--author=<${repository.settings.agentEmail}>`,
    '--no-show-signature',
    '--no-mailmap',
    '--no-color',
    '-z',
    `--format=tformat:${format}`,
    start,
    '--not',
    record.from_commit,
    '--',
  ]);
  const commits = output
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => entry.split(FIELD));
  const states = commits.filter((fields) => fields[3] !== '');
  const known = new Set(states.map(([commit]) => commit));
  return states.map(([commit = '', parents = '', at = '', session = '', ...rest]) => {
    const [label, tool, restored, head] = rest.map((value) => value || undefined);
    const [first = ''] = parents.split(' ');
    const previous = known.has(first) ? first : undefined;
    return { commit, previous, at: new Date(Number(at) * 1000), session, label, tool, restored, head };
  });
}

/** SNAPSHOT as people write it: `@{n}`, a label, a commit, a time. @throws AgtError where it means no state. */
export async function resolveMoment(
  repository: Repository,
  record: SessionRecord,
  spec: string,
  now: Date,
): Promise<Moment> {
  const history = await readHistory(repository, record);
  const unknown = (reason: string) =>
    new AgtError(`no state '${spec}' in session "${record.session_id}": ${reason}`, {
      hints: [`see: agt session log ${record.session_id}`],
    });
  if (history.length === 0) throw unknown('it has no autocommits yet');

  const back = /^@\{(\d+)\}$/.exec(spec) ?? (spec === '@' ? ['', '0'] : null);
  if (back !== null) {
    const found = history[Number(back[1])];
    if (found === undefined) throw unknown(`it has ${history.length} autocommits`);
    return found;
  }
  const labelled = history.find(({ label }) => label === spec);
  if (labelled !== undefined) return labelled;
  if (/^[0-9a-f]{4,64}$/i.test(spec)) {
    const matches = history.filter(({ commit }) => commit.startsWith(spec.toLowerCase()));
    if (matches.length > 1) throw unknown('more than one begins so');
    if (matches[0] !== undefined) return matches[0];
  }
  const time = await parseTime(repository, spec, now);
  if (time === undefined) throw unknown('it is no commit, label or time of it');
  const found = history.find(({ at }) => at.getTime() <= time.getTime());
  if (found === undefined) throw unknown('its first autocommit is later');
  return found;
}

/** A time in git's date syntax. git takes what it does not understand for now; that is told apart here. */
export async function parseTime(repository: Repository, text: string, now: Date): Promise<Date | undefined> {
  const ask = async (since: string) => {
    const answer = await gitText(repository.git, ['rev-parse', `--since=${since}`]);
    return Number(answer.replace('--max-age=', ''));
  };
  const [seconds, asNow] = await Promise.all([ask(text), ask('now')]);
  if (/^\s*now\s*$/i.test(text)) return now;
  return Math.abs(seconds - asNow) <= 1 ? undefined : new Date(seconds * 1000);
}
