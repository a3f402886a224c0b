/** agt bisect run: the first snapshot at which a command fails. */
import { availableParallelism } from 'node:os';
import { AgtError, EXIT, usageError } from '../../../errors.ts';
import { shownId } from '../../../folders/store.ts';
import { localTime } from '../../../local-time.ts';
import { isAttached } from '../../../session/record.ts';
import { type Session, startCommit } from '../../../session/session.ts';
import type { Snapshot } from '../../../snapshot/history.ts';
import { type Border, bisect, probeAll, type Verdict } from '../../../timetravel/bisect/bisect.ts';
import type { Candidate } from '../../../timetravel/bisect/copies.ts';
import type { ProbeEnd } from '../../../timetravel/bisect/probe.ts';
import { showDiff } from '../../../timetravel/diff/diff.ts';
import { stepsOf } from '../../../timetravel/search/search.ts';
import { readAmbiguousFolders, shownPath } from '../../../timetravel/session-paths.ts';
import { readTimeline } from '../../../timetravel/timeline.ts';
import { withRenamed } from '../../../timetravel/turn-files.ts';
import { lastLines, nameOf, withTests } from '../../bisecting.ts';
import { defineSessionCommand, option, SNAPSHOT_FORMS } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { json, lines, showPath } from '../../output/format.ts';
import { fileLines, filesJson } from '../../output/history.ts';
import { commandArgument } from '../../running.ts';
import { stepJson, workOf } from './search.ts';

export const bisectRun = defineSessionCommand({
  name: 'bisect run',
  alsoFolders: true,
  takesRest: 'command',
  runsLong: true,
  summary: 'find the first snapshot at which a command fails',
  description:
    'Run the command after -- in copies of snapshots, several at once, and find the first snapshot at which it fails: ' +
    'who made it, by which prompt and call of a tool, and what it changed. Exit codes are those of git bisect run: 0 is ' +
    'good, 125 passes over a snapshot, 128 and more stop, all others are bad. A copy has the ignored files of its ' +
    'snapshot, and a repository of its own; sandbox and checkout stay as they are. Without --from the start of the ' +
    "session has to be good, without --to the last snapshot bad; agt runs the command there as well. git's own command " +
    'is agt git bisect run.',
  options: {
    from: option.named('snapshot', `the newest snapshot known to be good: ${SNAPSHOT_FORMS}`),
    to: option.value('a snapshot known to be bad (default: the last one)'),
    jobs: option.value('so many copies at once (default: the number of cores)', 'j'),
    patch: option.flag('show what the snapshot changed', 'p'),
    ...option.shared('json'),
  },
  examples: [
    ['agt bisect run -- npm test', 'find the step that broke the tests'],
    [
      'agt bisect run fix-login --from "tests pass" -p -- cargo test',
      'begin at a label, and show the change',
    ],
  ],
  check: ({ rest }) => commandArgument(rest, 'agt bisect run -- npm test'),
  run: async (args, context, session, words) => {
    const jobs = args.jobs === undefined ? availableParallelism() : Number(args.jobs);
    if (!(Number.isInteger(jobs) && jobs > 0))
      throw usageError(`"${args.jobs}" is no number of copies`, 'for example: -j 4');
    const history = await session.requireHistory();
    const find = (spec: string) => session.find(spec, context.now(), history);
    const to = await find(args.to ?? '@');
    const from = args.from === undefined ? undefined : await find(args.from);
    const starts = isAttached(session.record) ? [] : [{ start: await startCommit(session) }];
    const candidates = [...starts, ...history.toReversed()];
    const bad = candidates.indexOf(to);
    const first = from === undefined ? Math.min(starts.length, bad - 1) : candidates.indexOf(from);
    if (first < 0 || first >= bad) {
      const older = nameOf(history, from ?? to);
      throw new AgtError(`there is no snapshot between ${older} and ${nameOf(history, to)}`, {
        hints: ['--from names an older snapshot than --to'],
      });
    }
    const test = { history, candidates, words };
    return withTests(context, session, test, async (probe, ends) => {
      const known = { history, candidates, ends, isGiven: from !== undefined };
      const verdicts = (indices: readonly number[]) => probeAll(indices, jobs, probe);
      const good = await verify(known, { good: first, bad }, verdicts);
      const border = await bisect({ good, bad }, jobs, probe);
      return report(context, session, { ...known, border }, args);
    });
  },
});

interface Known {
  readonly history: readonly Snapshot[];
  readonly candidates: readonly Candidate[];
  readonly ends: ReadonlyMap<number, ProbeEnd>;
  readonly isGiven: boolean;
}

/** The index of the good one: the start commit, if an agent was at work before the first snapshot. */
async function verify(
  { history, candidates, ends, isGiven }: Known,
  { good, bad }: Border,
  probe: (indices: readonly number[]) => Promise<Verdict[]>,
): Promise<number> {
  const [first, last] = await probe([good, bad]);
  const isAlone = isGiven || good === 0;
  const [start] = isAlone || first === 'good' || last !== 'bad' ? [first] : await probe([0]);
  if (last === 'bad' && start === 'good') return first === 'good' ? good : 0;
  const [index, verdict, wanted] =
    last === 'bad' ? [good, first, 'passes: --from SNAPSHOT'] : [bad, last, 'fails: --to SNAPSHOT'];
  const does = { good: 'passes', bad: 'fails', skip: 'cannot be tested (exit code 125)' }[verdict ?? 'skip'];
  throw new AgtError(`the command ${does} at ${nameOf(history, candidates[index] as Candidate)}`, {
    hints: [`name a snapshot at which it ${wanted}`, ...lastLines(ends.get(index)?.output ?? '')],
  });
}

/** git's exit code if only snapshots are left that could not be tested. */
const UNDECIDED = 2;

async function report(
  context: Context,
  session: Session,
  { history, candidates, ends, border: { good, bad } }: Known & { readonly border: Border },
  { json: asJson, patch }: { readonly json: boolean; readonly patch: boolean },
) {
  const { git, repository } = session;
  const snapshot = candidates[bad] as Snapshot;
  const before = candidates[good] as Candidate;
  const all = await stepsOf(repository, { since: undefined, session: session.id });
  const step = all.find((one) => one.snapshot.commit === snapshot.commit);
  const [changes] = await readTimeline(git, [snapshot], { pathspecs: [], countLines: true });
  const ambiguous = await readAmbiguousFolders(git, [snapshot.commit]);
  const changed = await withRenamed(git, snapshot, changes?.files ?? []);
  const files = filesJson(changed, (path) => shownPath(path, ambiguous));
  const doubtful = candidates.slice(good + 1, bad) as Snapshot[];
  const exitCode = doubtful.length === 0 ? EXIT.done : UNDECIDED;
  if (asJson) {
    const entry = {
      ...(step && stepJson(step)),
      name: `@{${history.indexOf(snapshot)}}`,
      last_good: 'start' in before ? before.start : before.commit,
      candidates: [...doubtful, snapshot].map(({ commit }) => commit),
      exit_code: ends.get(bad)?.exitCode ?? null,
      output: ends.get(bad)?.output ?? null,
      files,
    };
    context.out(json(entry));
    return exitCode;
  }
  const name = nameOf(history, snapshot);
  context.out(
    lines([
      doubtful.length === 0
        ? `${shownId(session.record)}: fails from ${name} on; the last good one is ${nameOf(history, before)}`
        : `${shownId(session.record)}: fails first at one of ${[...doubtful, snapshot].map((one) => nameOf(history, one)).join(', ')}`,
      `${localTime(snapshot.time)}  ${step?.agent ?? '-'}  ${step === undefined ? '' : workOf(step)}`,
      step?.prompt !== undefined && `prompt: ${showPath(step.prompt)}`,
    ]) + fileLines({ files }),
  );
  if (patch) {
    const older = history[history.indexOf(snapshot) + 1] ?? 'start';
    await showDiff(session, { before: older, after: snapshot, pathspecs: () => [] }, []);
  }
  return exitCode;
}
