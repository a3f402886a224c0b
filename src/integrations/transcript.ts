/**
 * Transcripts of conversations: one JSON text a line, most with the time. agt never changes the transcript of an agent. It
 * writes a copy with another id that ends at a snapshot, with the paths of another sandbox.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { AgtError, attempt } from '../errors.ts';
import { promptIn } from '../snapshot/format.ts';
import type { Snapshot } from '../snapshot/history.ts';

export interface TranscriptForm {
  /** A part of each file name is the id. */
  readonly directory: (env: NodeJS.ProcessEnv) => string;
  /** The lines with a prompt of the user, and with the result of a tool. */
  readonly prompt: RegExp;
  readonly result: RegExp;
}

type Moment = Pick<Snapshot, 'time' | 'label' | 'tool' | 'call'>;

/** From the snapshot to the line that an agent writes with it: a capture may have come between. */
const FARTHEST_MS = 60_000;

/** Undefined if nothing is left. Before a prompt, after the result of a call, or by the time. */
export function cutTranscript(
  text: string,
  { prompt, result }: TranscriptForm,
  at: Moment,
): string | undefined {
  const lines = text.split('\n').filter((line) => line !== '');
  const times = lines.map((line) => Date.parse(/"timestamp":"([^"]+)"/.exec(line)?.[1] ?? ''));
  const wanted = at.time.getTime() + 500; // it has no milliseconds
  const distance = (i: number) => Math.abs((times[i] ?? 0) - wanted);
  const nearest = (found: readonly number[]) =>
    found.filter((i) => distance(i) < FARTHEST_MS).sort((a, b) => distance(a) - distance(b))[0];
  const matching = (kind: RegExp) => [...lines.keys()].filter((i) => kind.test(lines[i] ?? ''));
  const results = at.tool === undefined ? [] : matching(result);
  const named = results.filter((i) => lines[i]?.includes(`"${at.call?.id}"`));
  const call = nearest(named.length > 0 ? named : results);
  const before = promptIn(at) === undefined ? undefined : nearest(matching(prompt));
  const later = times.findIndex((time) => time > wanted + 500);
  const end = before ?? (call === undefined ? later : call + 1);
  const kept = lines.slice(0, end < 0 ? undefined : end);
  return kept.some((line) => prompt.test(line)) ? `${kept.join('\n')}\n` : undefined;
}

/** With each path in `from` as one in `to`. */
export function moveTranscript(text: string, from: string, to: string): string {
  const inJson = (path: string) => JSON.stringify(path).slice(1, -1);
  const pattern = new RegExp(`${inJson(from).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?![\\w.-])`, 'g');
  return text.replace(pattern, () => inJson(to));
}

export interface Copy {
  readonly id: string;
  readonly newId: string;
  /** Undefined: the whole conversation. */
  readonly at: Moment | undefined;
  /** Directories in which the agent works. */
  readonly from: string;
  readonly to: string;
}

/** Returns the path of the copy. @throws AgtError */
export function copyTranscript(
  form: TranscriptForm & { readonly kept: string },
  env: NodeJS.ProcessEnv,
  copy: Copy,
  dryRun: boolean,
): string {
  const { id, newId, at, from, to } = copy;
  const directory = form.directory(env);
  const [old, own] = [from, to].map((path) => path.replace(/[^A-Za-z0-9]/g, '-'));
  const found = findTranscript(directory, id) ?? findTranscript(form.kept, id);
  if (found === undefined)
    throw new AgtError(`there is no transcript of the conversation ${id} in ${directory}`);
  const text = readFileSync(found, 'utf8');
  const cut = at === undefined ? text : cutTranscript(text, form, at);
  if (cut === undefined)
    throw new AgtError(`the conversation ${id} begins after that snapshot`, {
      hints: ['start the agent anew'],
    });
  // Some agents have a directory for each place, with this name.
  const name = basename(found).replace(id, newId);
  const isKept = dirname(found) === form.kept;
  const beside = isKept ? join(directory, own ?? '') : dirname(found).replace(`/${old}`, `/${own}`);
  const path = join(beside, name);
  if (dryRun) return path;
  makeDirectories(dirname(path));
  writeFileAtomic(path, moveTranscript(cut.replaceAll(id, newId), from, to));
  return path;
}

function findTranscript(directory: string, id: string): string | undefined {
  const names = (attempt(() => readdirSync(directory, { recursive: true })) ?? []) as string[];
  const name = names.find((path) => basename(path).includes(id) && path.endsWith('.jsonl'));
  return name && join(directory, name);
}
