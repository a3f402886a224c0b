/** git's pickaxe compares each snapshot with the one before it, and finds the files in which the number of matches differs. */
import { Readable } from 'node:stream';
import { findObjects } from '../../git/objects/object-reader.ts';
import { type DiffEntry, diffTreeWords, joinVersions, parseEntry } from '../../git/objects/raw-diff.ts';
import { withoutIndex } from '../../git/objects/scratch-index.ts';
import { type Git, gitFailed, gitText, runGit } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { emptyTree } from '../../snapshot/tree.ts';
import { decodePath } from '../../snapshot/tree-names.ts';
import { type Pathspec, readAmbiguousFolders, relativeToSandbox } from '../session-paths.ts';
import { completePathspecs, inTrees } from '../timeline.ts';
import type { Author } from '../turns.ts';
import { type Line, matchesIn, type Pattern } from './matches.ts';

/** A snapshot with what it does not tell itself. */
export interface Step {
  readonly repository: Repository;
  readonly snapshot: Snapshot;
  /** That of a folder without a session. */
  readonly folder: SessionRecord | undefined;
  readonly agent: string | undefined;
  readonly author: Author;
  /** The last one before it in its session. */
  readonly prompt: string | undefined;
  /** Another repository has made it. */
  readonly isPulled: boolean;
}

export interface Occurrence extends Step {
  /** Relative to the sandbox, one byte per character; undefined for a prompt. */
  readonly path: string | undefined;
  readonly change: 'came' | 'went';
  /** The first place that did; undefined for a prompt. */
  readonly line: Line | undefined;
}

/** A file in which the number of matches changes. */
interface Hit extends DiffEntry {
  readonly step: Step;
}

/** For a regular expression each batch is a git of its own, for a text all contents of a batch are in memory. */
const HITS_AT_ONCE = { regex: 1000, text: 50 };

export async function* occurrencesInFiles(
  git: Git,
  steps: readonly Step[],
  pattern: Pattern,
  pathspecs: readonly Pathspec[],
): AsyncGenerator<Occurrence> {
  const pairs = await pairsOf(git, steps);
  const { text, isRegex, ignoresCase } = pattern;
  const words = [
    ...[...diffTreeWords(false), '--stdin', '--ignore-submodules=all', `-${isRegex ? 'G' : 'S'}${text}`],
    ...(ignoresCase ? ['-i'] : []),
    ...['--', ...inTrees(completePathspecs(pathspecs))],
  ];
  const end = new AbortController();
  // The first batch comes soon, and each next one is all that git has found meanwhile.
  const output = new Readable({ read: () => undefined });
  const most = HITS_AT_ONCE[isRegex ? 'regex' : 'text'];
  const run = runGit(withoutIndex(git), words, {
    input: [...pairs.values()].map(({ line }) => `${line}\n`).join(''),
    onOutput: (chunk) => output.push(chunk),
    cancel: end.signal,
  }).finally(() => output.push(null));
  run.catch(() => undefined); // it is awaited below
  try {
    for await (const hits of parseHits(output, pairs))
      for (let i = 0; i < hits.length; i += most) yield* occurrencesIn(git, hits.slice(i, i + most), pattern);
    const { exitCode } = await run;
    if (exitCode !== 0) throw gitFailed(words, await run);
  } finally {
    end.abort();
    await run.catch(() => undefined);
  }
}

/** By what git prints before the differences of a snapshot. `line` is the question. */
type Pairs = ReadonlyMap<string, { readonly step: Step; readonly line: string }>;

/** The first snapshot of a session is compared with the start commit, as the sandbox had it. */
async function pairsOf(git: Git, steps: readonly Step[]): Promise<Pairs> {
  const first = steps.filter(({ snapshot }) => snapshot.previous === undefined);
  const names = first.map(({ snapshot: { parents } }) => `${parents[0] ?? ''}^{tree}`);
  const found = (await findObjects(git, names)).map((object) => object?.oid);
  const starts = [...new Set(found)].filter((oid) => oid !== undefined);
  const input = starts.map((oid) => `040000 tree ${oid}\tsandbox\n\n`).join('');
  const made = starts.length === 0 ? '' : await gitText(git, ['mktree', '--batch'], { input });
  const sandboxes = new Map(made.split('\n').map((oid, i) => [starts[i], oid]));
  const empty = await emptyTree(git);
  const startOf = new Map(first.map((step, i) => [step, sandboxes.get(found[i]) ?? empty]));
  return new Map(
    steps.map((step) => {
      const { commit, previous, tree } = step.snapshot;
      const trees = `${startOf.get(step)} ${tree}`;
      return previous === undefined
        ? [trees, { step, line: trees }]
        : [commit, { step, line: `${commit} ${previous}` }];
    }),
  );
}

/** Before each snapshot that differs git prints its commit; before each pair of trees those, as a line. */
async function* parseHits(output: AsyncIterable<Buffer>, pairs: Pairs): AsyncGenerator<Hit[]> {
  let [rest, key, facts] = ['', '', ''];
  for await (const chunk of output) {
    const hits: Hit[] = [];
    const fields = (rest + chunk.toString('latin1')).split('\0');
    rest = fields.pop() ?? '';
    for (const field of fields) {
      if (facts === '') {
        const lines = field.split('\n');
        const last = lines.pop() ?? '';
        key = lines.at(-1) ?? key;
        if (last.startsWith(':')) facts = last;
        else key = last;
      } else {
        const step = pairs.get(key)?.step;
        if (step !== undefined) hits.push({ step, ...parseEntry(decodePath(field), facts) });
        facts = '';
      }
    }
    yield hits;
  }
}

async function* occurrencesIn(git: Git, hits: readonly Hit[], pattern: Pattern): AsyncGenerator<Occurrence> {
  const versions = hits.flatMap(({ before, after }) => [before, after]);
  const matches = await matchesIn(git, pattern, [
    ...new Set(versions.flatMap((version) => version?.oid ?? [])),
  ]);
  const joined = new Map<string, Hit>();
  for (const hit of hits) {
    const key = `${hit.step.snapshot.commit}:${hit.path}`;
    joined.set(key, joinVersions(joined.get(key), hit));
  }
  for (const { step, path, before, after } of joined.values()) {
    if (before?.oid === after?.oid) continue;
    const [old, now] = [before, after].map((version) => (version && matches.get(version.oid)) ?? []);
    const ambiguous = await readAmbiguousFolders(git, [step.snapshot.commit]);
    yield { ...step, path: relativeToSandbox(path, ambiguous), ...compareMatches(old ?? [], now ?? []) };
  }
}

/** A line that changed and still matches came. */
function compareMatches(
  before: readonly Line[],
  after: readonly Line[],
): Pick<Occurrence, 'change' | 'line'> {
  const change = after.length >= before.length ? 'came' : 'went';
  const [lines, others] = change === 'came' ? [after, before] : [before, after];
  const known = new Set(others.map(({ text }) => text));
  const isApart = ({ text }: Line, i: number) => text !== others[i]?.text;
  return { change, line: lines.find(({ text }) => !known.has(text)) ?? lines.find(isApart) ?? lines[0] };
}
