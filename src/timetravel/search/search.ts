/** `agt search`: the snapshots of all sessions in which a text came or went, or the prompts that have it, newest first. */
import { usageError } from '../../errors.ts';
import { withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { type Git, gitText, runGit } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { isAttached, snapshotRefs } from '../../session/record.ts';
import { oneLine, promptIn } from '../../snapshot/format.ts';
import { readHistory } from '../../snapshot/history.ts';
import { readAllAuthors } from '../activity.ts';
import type { Pathspec } from '../session-paths.ts';
import { type Occurrence, occurrencesInFiles, type Step } from './in-files.ts';
import { matchesIn, type Pattern } from './matches.ts';

export interface SearchRequest {
  readonly pattern: Pattern;
  readonly inPrompts: boolean;
  readonly pathspecs: readonly Pathspec[];
}

export interface SearchSource {
  readonly repository: Repository;
  /** Newest first. */
  readonly steps: readonly Step[];
}

interface Wanted {
  readonly since: Date | undefined;
  /** All of its line, with what it has from the one that it was forked from. */
  readonly session: string | undefined;
  /** A step has the agent and the prompt that begin a turn with it; otherwise those that changed its files. */
  readonly prompts?: boolean;
}

/** Newest first. */
export async function stepsOf(
  repository: Repository,
  { since, session, prompts = false }: Wanted,
): Promise<Step[]> {
  const asked = session === undefined ? [] : [session];
  const { records, snapshots, authored, pulled } = await readAllAuthors(repository, asked);
  const folder = records.find(isAttached);
  const authors = new Map(authored.flatMap((own) => own.steps).map((step) => [step.snapshot, step]));
  const steps = snapshots.map((snapshot): Step => {
    const { turn, among = [], author = 'unknown' } = authors.get(snapshot) ?? {};
    const known = snapshot.agent ?? turn?.agent;
    const begins = promptIn(snapshot);
    const prompt = prompts ? begins : (turn?.prompt ?? begins);
    const isPersons = author === 'restore' || (author === 'other' && !(prompts && begins !== undefined));
    const agent = among.length > 1 || isPersons ? undefined : known;
    const isPulled = pulled.has(snapshot);
    return { repository, snapshot, folder, agent, author, prompt, isPulled };
  });
  const record = records.find(({ session_id: id }) => id === session);
  const line = record && (await readHistory(repository.git, snapshotRefs(record)));
  const inLine = line && new Set(line.map(({ commit }) => commit));
  const isWanted = ({ snapshot }: Step) =>
    (since === undefined || snapshot.time >= since) && (inLine?.has(snapshot.commit) ?? true);
  return steps.filter(isWanted).reverse();
}

/** `consume` gets the occurrences of all sources as git finds them. @throws AgtError for what is no regular expression */
export async function search(
  sources: readonly SearchSource[],
  request: SearchRequest,
  consume: (found: AsyncIterable<Occurrence>) => Promise<void>,
): Promise<void> {
  if (sources[0] !== undefined) await checkPattern(sources[0].repository.git, request.pattern);
  const { pattern, inPrompts, pathspecs } = request;
  const open = (
    [source, ...others]: readonly SearchSource[],
    streams: readonly AsyncGenerator<Occurrence>[],
  ): Promise<void> => {
    if (source === undefined) return consume(newestFirst(streams));
    return withScratchObjects(source.repository, ({ git }) =>
      open(others, [
        ...streams,
        inPrompts
          ? occurrencesInPrompts(git, source.steps, pattern)
          : occurrencesInFiles(git, source.steps, pattern, pathspecs),
      ]),
    );
  };
  return open(sources, []);
}

async function checkPattern(git: Git, { text, isRegex }: Pattern): Promise<void> {
  if (!isRegex) return;
  const words = ['rev-list', '--max-count=0', '--extended-regexp', `--grep=${text}`, '--all'];
  const { exitCode, stderr } = await runGit(git, words);
  if (exitCode === 0) return;
  const reason = /: ([^:\n]*)\n$/.exec(stderr)?.[1] ?? 'git refuses it';
  throw usageError(`"${text}" is no regular expression: ${reason}`, 'for a plain text, leave out -G');
}

async function* newestFirst(streams: readonly AsyncGenerator<Occurrence>[]): AsyncGenerator<Occurrence> {
  try {
    const heads = await Promise.all(streams.map((stream) => stream.next()));
    const timeOf = (i: number) => (heads[i]?.done === false ? heads[i].value.snapshot.time.getTime() : -1);
    for (;;) {
      const first = [...heads.keys()].reduce((best, i) => (timeOf(i) > timeOf(best) ? i : best), 0);
      const head = heads[first];
      if (head === undefined || head.done === true) return;
      yield head.value;
      heads[first] = await (streams[first] as AsyncGenerator<Occurrence>).next();
    }
  } finally {
    for (const stream of streams) await stream.return(undefined);
  }
}

async function* occurrencesInPrompts(
  git: Git,
  steps: readonly Step[],
  pattern: Pattern,
): AsyncGenerator<Occurrence> {
  const asked = steps.filter(({ snapshot }) => promptIn(snapshot) !== undefined);
  const input = asked.map(({ prompt }) => `${prompt}\n`).join('');
  const blob = await gitText(git, ['hash-object', '-w', '--stdin'], { input });
  const matches = await matchesIn(git, { ...pattern, text: oneLine(pattern.text) }, [blob]);
  for (const number of new Set(matches.get(blob)?.map((line) => line.number))) {
    const step = asked[number - 1];
    if (step !== undefined) yield { ...step, path: undefined, change: 'came', line: undefined };
  }
}
