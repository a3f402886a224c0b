/**
 * Which step each new line of an accepted commit comes from: this outlives the snapshots of the session. A ref of agt's leads to the newest map of a session, whose parents are the map before and that commit.
 */
import { jsonPath, pathFromJson } from '../../disk/path-bytes.ts';
import { attributionRef } from '../../filter/agent-refs.ts';
import { readCommits } from '../../git/objects/commits.ts';
import { findObject, readObject } from '../../git/objects/object-reader.ts';
import { FSYNC_ARGS, type Git, gitText } from '../../git/run/git.ts';
import type { Origin } from './origin.ts';

export interface AcceptMap {
  readonly session: string;
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

/** JSON of one row each: a step, or a file with its ranges of lines and their steps. */
export async function writeAcceptMap(git: Git, { session, landed, from, files }: AcceptMap): Promise<void> {
  if (files.size === 0) return;
  const rows = rowsOf(files);
  const input = `${[['agt-map', 1, from], ...rows].map((row) => JSON.stringify(row)).join('\n')}\n`;
  const ref = attributionRef(session);
  const earlier = await findObject(git, ref);
  const blob = await gitText(git, [...FSYNC_ARGS, 'hash-object', '-w', '--stdin'], { input });
  const tree = await gitText(git, [...FSYNC_ARGS, 'mktree'], { input: `100644 blob ${blob}\tmap\n` });
  const parents = [...(earlier === undefined ? [] : ['-p', earlier]), '-p', landed];
  const message = `who made the lines of ${landed}\n`;
  const commit = await gitText(git, [...FSYNC_ARGS, ...AS_AGT, 'commit-tree', tree, ...parents], {
    input: message,
  });
  await gitText(git, [...FSYNC_ARGS, 'update-ref', ref, commit, earlier ?? '0'.repeat(commit.length)]);
}

const AS_AGT = ['-c', 'user.name=agt', '-c', 'user.email=agt', '-c', 'commit.gpgSign=false'];

type Row = readonly unknown[];

function rowsOf(files: AcceptMap['files']): Row[] {
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
  const ofSteps = steps.map(({ author, agent, turn, tool, call, prompt, snapshot, time }): Row => {
    const shortened = snapshot.slice(0, SNAPSHOT_DIGITS);
    const seconds = Math.floor(time.getTime() / 1000);
    const text = prompt === undefined ? null : prompts.indexOf(prompt);
    return ['s', author, agent ?? null, turn ?? null, tool ?? null, call ?? null, text, shortened, seconds];
  });
  return [...prompts.map((prompt) => ['p', prompt]), ...ofSteps, ...ofFiles];
}

/** As git shortens the names of commits of a large repository. */
const SNAPSHOT_DIGITS = 12;

/** Newest first; none if a map is damaged or of a later form. */
export async function readAcceptMaps(git: Git, session: string): Promise<AcceptMap[]> {
  const maps: AcceptMap[] = [];
  let commit = await findObject(git, attributionRef(session));
  while (commit !== undefined) {
    const text = (await readCommits(git, [commit])).get(commit) ?? '';
    const parents = [...text.slice(0, text.indexOf('\n\n')).matchAll(/^parent (\w+)$/gm)].map(
      ([, oid]) => oid,
    );
    const landed = parents.at(-1);
    const map = await readObject(git, `${commit}:map`);
    if (map === undefined || landed === undefined) break;
    maps.push({ session, landed, ...parseMap(map.content.toString(), session) });
    commit = parents.length > 1 ? parents[0] : undefined;
  }
  return maps;
}

function parseMap(text: string, session: string): Pick<AcceptMap, 'from' | 'files'> {
  const [head, ...rows] = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const files = new Map<string, FileOrigins>();
  const from: string = head?.[2] ?? '';
  if (head?.[0] !== 'agt-map' || head[1] !== 1) return { from, files };
  const prompts = rows.filter(([kind]) => kind === 'p').map(([, prompt]) => prompt as string);
  const steps = rows
    .filter(([kind]) => kind === 's')
    .map(
      ([, author, agent, turn, tool, call, prompt, snapshot, seconds]): Origin => ({
        ...{ session, author, snapshot, time: new Date(seconds * 1000) },
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
