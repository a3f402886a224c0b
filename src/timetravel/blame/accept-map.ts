/**
 * Which step each new line of an accepted commit comes from: this outlives the snapshots of the session. A ref of agt's
 * leads to the newest map of a session: a commit whose message is the map, and whose parents are the map before and the
 * accepted commit.
 */
import { jsonPath, pathFromJson } from '../../disk/path-bytes.ts';
import { attempt } from '../../errors.ts';
import { attributionRef } from '../../filter/agent-refs.ts';
import { commitOid, readCommits, storeCommits } from '../../git/objects/commits.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import { FSYNC_ARGS, type Git, gitText, isAncestor } from '../../git/run/git.ts';
import { commitWith } from './made-commits.ts';
import type { Origin } from './origin.ts';

export interface AcceptMap {
  readonly session: string;
  /** The id that the session had then, which the message of the commit names. */
  readonly sessionThen: string;
  /** The commit on the user's branch. */
  readonly landed: string;
  /** The branch before. */
  readonly from: string;
  /** By path in that commit; one byte per character. */
  readonly files: ReadonlyMap<string, FileOrigins>;
}

/** One for the whole file, or by number of line, counted from 1. */
export type FileOrigins = Origin | ReadonlyMap<number, Origin>;

export function originAt(files: AcceptMap['files'], path: string, line: number): Origin | undefined {
  const found = files.get(path);
  return found instanceof Map ? found.get(line) : (found as Origin | undefined);
}

/**
 * The message of a commit: a subject, then JSON of one row each: a prompt, a step, or a file with its ranges of lines and
 * their steps.
 */
export async function writeAcceptMap(
  git: Git,
  { session, landed, from, files }: Omit<AcceptMap, 'sessionThen'>,
): Promise<void> {
  if (files.size === 0) return;
  const ref = attributionRef(session);
  const earlier = await findObject(git, ref);
  const parent = parentsIn(await contentOf(git, landed))[0];
  const { rows, seconds } = rowsOf(files, session);
  const head = ['agt-map', 2, ...(parent === from ? [] : [from])];
  const about = `Steps from which the accepted lines of session ${session} come`;
  const message = [about, '', ...[head, ...rows].map((row) => JSON.stringify(row))].join('\n');
  const tree = (await findObject(git, `${landed}^{tree}`)) ?? '';
  const parents = [...(earlier === undefined ? [] : [earlier]), landed];
  const input = commitWith(tree, parents, seconds, message);
  const words = [...FSYNC_ARGS, 'hash-object', '-t', 'commit', '-w', '--stdin'];
  const commit = await gitText(git, words, { input });
  await gitText(git, [...FSYNC_ARGS, 'update-ref', ref, commit, earlier ?? '0'.repeat(commit.length)]);
}

const contentOf = async (git: Git, commit: string) => (await readCommits(git, [commit])).get(commit) ?? '';

function parentsIn(content: string): string[] {
  const header = content.slice(0, content.indexOf('\n\n'));
  return [...header.matchAll(/^parent (\w+)$/gm)].map(([, oid = '']) => oid);
}

type Row = readonly unknown[];

/** `seconds`: the time of the newest step, from which the steps count back. */
function rowsOf(files: AcceptMap['files'], session: string) {
  const steps: Origin[] = [];
  const numberOf = (origin: Origin) => {
    const known = steps.findIndex(
      ({ snapshot, turn }) => snapshot === origin.snapshot && turn === origin.turn,
    );
    return known >= 0 ? known : steps.push(origin) - 1;
  };
  const ofFiles = [...files].map(([path, origins]): Row => {
    if (!(origins instanceof Map)) return ['f', jsonPath(path), numberOf(origins as Origin)];
    const ranges: [from: number, count: number, step: number][] = [];
    for (const [line, origin] of [...origins].toSorted(([a], [b]) => a - b)) {
      const [last, step] = [ranges.at(-1), numberOf(origin)];
      if (last !== undefined && last[2] === step && last[0] + last[1] === line) last[1] += 1;
      else ranges.push([line, 1, step]);
    }
    return ['f', jsonPath(path), ...ranges];
  });
  const prompts = [...new Set(steps.flatMap(({ prompt }) => prompt ?? []))];
  const secondsOf = ({ time }: Origin) => Math.floor(time.getTime() / 1000);
  const seconds = Math.max(0, ...steps.map(secondsOf));
  const ofSteps = steps.map((step): Row => {
    const { author, agent, turn, tool, call, prompt, bySession } = step;
    const text = prompt === undefined ? null : prompts.indexOf(prompt);
    const what = [agent ?? null, turn ?? null, text, tool ?? null, call ?? null];
    const when = [step.snapshot.slice(0, SNAPSHOT_DIGITS), seconds - secondsOf(step)];
    const by = bySession === undefined ? [] : [bySession];
    const of = step.session === session && by.length === 0 ? [] : [step.session, ...by]; // before the fork
    return ['s', ...what, ...when, ...(author === 'agent' && of.length === 0 ? [] : [author, ...of])];
  });
  return { rows: [...prompts.map((prompt) => ['p', prompt]), ...ofSteps, ...ofFiles], seconds };
}

/** As git shortens the names of commits of a large repository. */
const SNAPSHOT_DIGITS = 12;

/** Newest first; none if a map is damaged or of a later form. */
export async function readAcceptMaps(git: Git, session: string): Promise<AcceptMap[]> {
  const maps: AcceptMap[] = [];
  for (const { content, landed } of await chainFrom(git, await findObject(git, attributionRef(session)))) {
    const [, sessionThen = session] = / of session (\S+) come$/m.exec(content) ?? [];
    const parsed = parseMap(content, session, parentsIn(await contentOf(git, landed))[0]);
    maps.push({ session, sessionThen, landed, ...parsed });
  }
  return maps;
}

interface Link {
  /** Of the commit, one byte per character. */
  readonly content: string;
  readonly landed: string;
}

/** Newest first. */
async function chainFrom(git: Git, newest: string | undefined): Promise<Link[]> {
  const chain: Link[] = [];
  for (let next = newest; next !== undefined; ) {
    const content = await contentOf(git, next);
    const [landed, earlier] = parentsIn(content).reverse();
    if (landed === undefined) break;
    chain.push({ content, landed });
    next = earlier;
  }
  return chain;
}

/**
 * The chains of two repositories, given by their newest maps, as one: on top of theirs stand the maps that only ours has.
 * Returns its newest map.
 */
export async function joinAcceptMaps(git: Git, ours: string, theirs: string): Promise<string> {
  if (await isAncestor(git, theirs, ours)) return ours;
  const [mine, others] = [await chainFrom(git, ours), await chainFrom(git, theirs)];
  const known = new Set(others.map(withoutEarlier));
  const added: Buffer[] = [];
  let newest = theirs;
  for (const link of mine.filter((one) => !known.has(withoutEarlier(one))).reverse()) {
    const commit = Buffer.from(withParents(link.content, [newest, link.landed]), 'latin1');
    added.push(commit);
    newest = commitOid(commit, theirs);
  }
  await storeCommits(git, added, theirs);
  return newest;
}

/** The same for a map in both chains. */
const withoutEarlier = ({ content, landed }: Link) => withParents(content, [landed]);

function withParents(content: string, parents: readonly string[]): string {
  return content.replace(/(?:^parent \w+\n)+/m, parents.map((one) => `parent ${one}\n`).join(''));
}

function parseMap(content: string, session: string, parent = ''): Pick<AcceptMap, 'from' | 'files'> {
  const newest = Number(/^author .* (\d+) \+0000$/m.exec(content)?.[1]);
  const text = Buffer.from(content.slice(content.indexOf('\n\n') + 2), 'latin1').toString();
  const rows = text.split('\n').map((line) => attempt(() => JSON.parse(line)) ?? []);
  const head = rows.find(([kind]) => kind === 'agt-map');
  const files = new Map<string, FileOrigins>();
  const from: string = head?.[2] ?? parent;
  if (head?.[1] !== 2) return { from, files };
  const prompts = rows.filter(([kind]) => kind === 'p').map(([, prompt]) => prompt as string);
  const steps = rows
    .filter(([kind]) => kind === 's')
    .map(
      ([, agent, turn, prompt, tool, call, snapshot, age, author = 'agent', of = session, by]): Origin => ({
        ...{ session: of, bySession: by, author, snapshot, time: new Date((newest - age) * 1000) },
        ...{ agent: agent ?? undefined, turn: turn ?? undefined, tool: tool ?? undefined },
        ...{ call: call ?? undefined, prompt: prompt === null ? undefined : prompts[prompt] },
      }),
    );
  for (const [kind, path, ...rest] of rows) {
    if (kind !== 'f') continue;
    const whole = typeof rest[0] === 'number' ? steps[rest[0]] : undefined;
    const lines = new Map<number, Origin>();
    for (const [from, count, step] of whole === undefined ? rest : []) {
      const origin = steps[step];
      for (let i = 0; origin !== undefined && i < count; i++) lines.set(from + i, origin);
    }
    files.set(pathFromJson(path), whole ?? lines);
  }
  return { from, files };
}
