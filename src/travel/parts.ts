/**
 * The objects of a session on a remote: a chain of commits, each with one part, which is a pack that is encrypted. A part
 * leaves out what earlier parts and the remote's own branches have. The commits of those branches are parents in the
 * chain, so the remote cannot lose them as long as it has the chain.
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AgtError, EXIT } from '../errors.ts';
import { findObjects, readContents, readObject } from '../git/objects/object-reader.ts';
import { type ScratchObjects, storeInScratch } from '../git/objects/scratch-objects.ts';
import { endOf, FSYNC_ARGS, type Git, type GitEnd, gitFailed, gitText, spawnGit } from '../git/run/git.ts';
import type { Part } from '../session/share-file.ts';
import type { Keys } from './keys.ts';
import { type Bytes, isForOthers, openStream, type Seal, sealStream } from './seal.ts';

/** Encrypted bytes can neither be compressed, nor are two of them alike. */
export const AS_IT_IS = [
  '-c',
  'core.compression=0',
  '-c',
  'pack.compression=0',
  '-c',
  'core.bigFileThreshold=64k',
];

/** From so many parts on, a push joins the newest ones that together are as large as the one before them. */
const MOST_PARTS = 24;

/** The parts that stay before the next one. Each joining at least doubles a part, so every byte travels few times. */
export function partsToKeep(parts: readonly Part[]): readonly Part[] {
  if (parts.length < MOST_PARTS) return parts;
  let joined = 0;
  for (let kept = parts.length; kept > 0; kept--) {
    const { size } = parts[kept - 1] as Part;
    if (kept < parts.length - 1 && size > 2 * joined) return parts.slice(0, kept);
    joined += size;
  }
  return [];
}

/** While git packs, agt reads its keys. */
export type Sealing = () => Promise<{ readonly seal: Seal }>;

export interface NewPart {
  /** Has the objects of the session, and gets those of the part. */
  readonly scratch: ScratchObjects;
  readonly seal: Sealing;
  /** The chain on the remote, and its beginning, on which the part builds. */
  readonly chain: readonly Part[];
  readonly before: readonly Part[];
  readonly tips: readonly string[];
  /** Commits of branches of the remote. */
  readonly known: readonly string[];
}

export interface Added {
  /** The chain with the part, or as it was if it is complete. */
  readonly parts: readonly Part[];
  /** Bytes of the part. */
  readonly size: number;
  /** The first parents of its commits. */
  readonly parents: ReadonlyMap<string, string | undefined>;
}

export async function addPart(part: NewPart): Promise<Added> {
  try {
    return await tryToAdd(part);
  } catch (error) {
    if (await areHere(part.scratch.git, part.before.at(-1)?.tips ?? [])) throw error;
    return tryToAdd({ ...part, before: [] }); // `agt gc --thin` has rewritten the history
  }
}

async function tryToAdd({ scratch, seal, chain, before, tips, known }: NewPart): Promise<Added> {
  const { git } = scratch;
  const last = before.at(-1);
  const without = [...new Set([...(last?.tips ?? []), ...known])];
  const wanted = rangeOf(tips, without);
  const [{ oid, size }, listed] = await Promise.all([
    storePart({ scratch, seal, wanted, tips }),
    gitText(git, ['rev-list', '--boundary', '--parents', '--stdin'], { input: wanted }),
  ]);
  const lines = listed.split('\n').map((line) => line.split(' '));
  const parents = new Map(lines.map(([commit = '', first]) => [commit, first]));
  if (last !== undefined && listed === '' && tips.every((tip) => last.tips.includes(tip)))
    return { parts: chain, size: 0, parents };
  const held = before.flatMap(({ text }) => text.match(/(?<=^parent ).*$/gm) ?? []);
  const own = new Set([...(last?.tips ?? []), ...held]);
  const bases = [...parents.keys()].flatMap((name) => (name.startsWith('-') ? name.slice(1) : []));
  const others = bases.filter((base) => !own.has(base));
  const tree = storeInScratch(scratch, { type: 'tree', content: treeOf(oid) }, oid);
  const above = [...(last === undefined ? [] : [last.commit]), ...(await onBranches(git, others, known))];
  const store = (text: string) =>
    storeInScratch(scratch, { type: 'commit', content: Buffer.from(text, 'latin1') }, oid);
  // By these git sees that the remote has what the part builds on, also if it takes the place of some.
  if (last !== undefined) for (const { text } of chain.slice(before.length - 1)) store(text);
  const text = commitText(tree, above);
  return { parts: [...before, { commit: store(text), text, size, tips }], size, parents };
}

function treeOf(oid: string): Buffer {
  return Buffer.concat([Buffer.from('100644 part\0'), Buffer.from(oid, 'hex')]);
}

export async function areHere(git: Git, commits: readonly string[]): Promise<boolean> {
  const found = await findObjects(git, commits);
  return found.every((one) => one !== undefined);
}

/** Lines for git rev-list. */
export function rangeOf(commits: readonly string[], without: readonly string[]): string {
  return [...commits, ...without.map((commit) => `^${commit}`)].map((word) => `${word}\n`).join('');
}

/** Those of the edges that branches have. All others are in earlier parts. */
async function onBranches(git: Git, edges: readonly string[], known: readonly string[]): Promise<string[]> {
  if (known.length === 0) return [];
  if (edges.every((edge) => known.includes(edge))) return [...edges];
  const words = ['rev-list', '--no-walk=unsorted', '--stdin'];
  const elsewhere = new Set((await gitText(git, words, { input: rangeOf(edges, known) })).split('\n'));
  return edges.filter((edge) => !elsewhere.has(edge));
}

/** Up to this size nobody has to start a git for it. */
const SMALL = 64_000;

/** By a file: git would hold in memory what comes through a pipe. */
async function storePart({ scratch, ...part }: Omit<PartContent, 'from'> & Pick<NewPart, 'scratch'>) {
  const file = join(scratch.dir, 'part');
  rmSync(file, { force: true }); // of an attempt before
  const size = await writePart({ from: scratch.git, ...part }, file);
  const words = [...AS_IT_IS, 'hash-object', '-w', '--no-filters', '--', file];
  if (size > SMALL) return { oid: await gitText(scratch.git, words), size };
  const blob = { type: 'blob', content: readFileSync(file) } as const;
  return { oid: storeInScratch(scratch, blob, part.tips[0] ?? ''), size };
}

interface PartContent {
  /** Has the objects. */
  readonly from: Git;
  readonly seal: Sealing;
  readonly tips: readonly string[];
  /** Lines for git rev-list. */
  readonly wanted: string;
}

/** The tips, then a pack, at the end of a file. Returns how many bytes it has written. */
export async function writePart({ from, seal, wanted, tips }: PartContent, file: string): Promise<number> {
  const words = ['pack-objects', '--revs', '--stdout', '--thin', '--delta-base-offset', '--quiet'];
  const packing = spawnGit(from, [...words, '--no-use-bitmap-index'], { stdio: 'pipe' });
  const packed = endOf(packing, wanted, () => undefined);
  const plain = new PassThrough();
  plain.write(`${JSON.stringify({ tips })}\n`);
  (packing.stdout as Readable).pipe(plain);
  const fd = openSync(file, 'a');
  let size = 0;
  try {
    const sealed = await sealStream((await seal()).seal, ReadableStream.from(plain));
    for await (const bytes of sealed) size += writeSync(fd, bytes);
  } catch (error) {
    packing.kill();
    throw error;
  } finally {
    closeSync(fd);
  }
  requireDone(words, await packed);
  return size;
}

function requireDone(words: readonly string[], end: GitEnd): void {
  if (end.exitCode !== 0) throw gitFailed(words, { ...end, exitCode: end.exitCode ?? EXIT.git });
}

/** The same for everybody, so that it says nothing of its author. */
const NOBODY = 'agt <agt@local> 0 +0000';

function commitText(tree: string, parents: readonly string[]): string {
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${NOBODY}`,
    `committer ${NOBODY}`,
  ];
  return `${lines.join('\n')}\n\nagt\n`;
}

/** The chain that ends at `last`, the oldest part first. Its commits are here. */
export async function chainOf(git: Git, last: string): Promise<{ commit: string; text: string }[]> {
  const chain: { commit: string; text: string }[] = [];
  for (let next: string | undefined = last; next !== undefined; ) {
    const text: string | undefined = (await readObject(git, next))?.content.toString('latin1');
    if (text?.includes(`\nauthor ${NOBODY}\n`) !== true) break;
    chain.unshift({ commit: next, text });
    next = /^parent (.*)$/m.exec(text)?.[1];
  }
  return chain;
}

/** Takes the objects of a part. @throws AgtError if it is damaged or for other keys. */
export async function takePart(
  git: Git,
  keys: Keys | undefined,
  { commit, text }: { commit: string; text: string },
): Promise<Part> {
  const name = `${commit}:part`;
  let tips: string[] = [];
  try {
    const size = (await findObjects(git, [name]))[0]?.size ?? 0;
    await readContents(git, [name], async (_, chunks) => {
      tips = await takePack(git, keys, Readable.from(chunks));
    });
    return { commit, text, size, tips };
  } catch (cause) {
    if (isForOthers(cause))
      throw new AgtError('a part of the session is encrypted for other keys than yours', {
        hints: ['where the session is, with your key in agt.recipients: agt session push ID --again'],
      });
    throw new AgtError(`a part of the session is damaged on the remote (${commit.slice(0, 12)})`, {
      cause,
      hints: ['where the session was, this sends it whole again: agt session push ID --again'],
    });
  }
}

/** Takes what `writePart` has written, and returns its tips. Without keys, it is not encrypted. */
export async function takePack(git: Git, keys: Keys | undefined, source: Readable): Promise<string[]> {
  const sealed = Readable.toWeb(source) as Bytes;
  const plain = keys === undefined ? sealed : await openStream(keys, sealed);
  const words = [...FSYNC_ARGS, 'index-pack', '--stdin', '--fix-thin'];
  const indexing = spawnGit(git, words, { stdio: 'pipe' });
  const indexed = endOf(indexing);
  let line = Buffer.alloc(0);
  const pack = async function* (bytes: AsyncIterable<Uint8Array>) {
    for await (const chunk of bytes) {
      if (line.includes('\n')) yield chunk;
      else {
        line = Buffer.concat([line, chunk]);
        if (line.includes('\n')) yield line.subarray(line.indexOf('\n') + 1);
      }
    }
  };
  // git ends with the last byte of the pack, maybe before the end of the source has come.
  const fed = pipeline(Readable.fromWeb(plain as never), pack, indexing.stdin as Writable).catch(() => {});
  requireDone(words, await indexed);
  await fed;
  return (JSON.parse(line.subarray(0, line.indexOf('\n')).toString()) as { tips: string[] }).tips;
}
