/**
 * The objects of a session on a remote: a chain of commits, each with one part, which is a pack that is encrypted. A part
 * leaves out what earlier parts and the remote's own branches have. The commits of those branches are parents in the
 * chain, so the remote cannot lose them as long as it has the chain.
 */
import { closeSync, createReadStream, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EXIT } from '../errors.ts';
import { findObjects, readContents, readObject } from '../git/objects/object-reader.ts';
import { type ScratchObjects, storeInScratch } from '../git/objects/scratch-objects.ts';
import { withSettings } from '../git/run/environment.ts';
import { asLines, endOf, FSYNC_ARGS, type Git, gitFailed, gitText, spawnGit } from '../git/run/git.ts';
import type { Part } from '../session/share-file.ts';
import { type Bytes, type Keys, openStream, type Recipients, sealStream } from './keys.ts';
import { AS_IT_IS } from './remote.ts';

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

export interface NewPart {
  /** Has the objects of the session, and gets those of the part. */
  readonly scratch: ScratchObjects;
  readonly recipients: Recipients;
  /** The chain on the remote, and its beginning, on which the part builds. */
  readonly chain: readonly Part[];
  readonly before: readonly Part[];
  readonly tips: readonly string[];
  /** Commits of branches of the remote. */
  readonly known: readonly string[];
}

/** The chain with the part, or as it was if it is complete; and the bytes of the part. */
export async function addPart({ scratch, recipients, chain, before, tips, known }: NewPart) {
  const { git } = scratch;
  const last = before.at(-1);
  const lastTips = last?.tips ?? [];
  if (tips.every((tip) => lastTips.includes(tip))) return { parts: chain, size: 0 };
  const file = join(scratch.dir, 'part');
  const without = [...lastTips, ...known];
  const [edges, size] = await Promise.all([
    edgesOf(git, tips, without),
    writePart({ scratch, recipients, wanted: rangeOf(tips, without), first: { tips } }, file),
  ]);
  // From a pipe, git would hold all of it in memory.
  const hash = ['hash-object', '-w', '--no-filters', '--', file];
  const oid =
    size > SMALL
      ? await gitText(withSettings(git, AS_IT_IS), hash)
      : storeInScratch(scratch, { type: 'blob', content: readFileSync(file) }, tips[0] ?? '');
  const part = Buffer.concat([Buffer.from('100644 part\0'), Buffer.from(oid, 'hex')]);
  const tree = storeInScratch(scratch, { type: 'tree', content: part }, oid);
  const held = before.flatMap(({ text }) => text.match(/(?<=^parent ).*$/gm) ?? []);
  const others = edges.filter((edge) => !lastTips.includes(edge) && !held.includes(edge));
  const above = [...(last === undefined ? [] : [last.commit]), ...(await onBranches(git, others, known))];
  const store = (text: string) =>
    storeInScratch(scratch, { type: 'commit', content: Buffer.from(text, 'latin1') }, oid);
  // By these git sees that the remote has what the part builds on, also if it takes the place of some.
  if (last !== undefined) for (const { text } of chain.slice(before.length - 1)) store(text);
  const text = commitText(tree, above);
  return { parts: [...before, { commit: store(text), text, size, tips }], size };
}

export async function areHere(git: Git, commits: readonly string[]): Promise<boolean> {
  return !(await findObjects(git, commits)).includes(undefined);
}

/** Lines for git rev-list. */
export function rangeOf(commits: readonly string[], without: readonly string[]): string {
  return asLines(new Set([...commits, ...without.map((commit) => `^${commit}`)]));
}

/** Of the commits that `without` leads to, those on which these build. */
export async function edgesOf(
  git: Git,
  tips: readonly string[],
  without: readonly string[],
): Promise<string[]> {
  const listed = await gitText(git, ['rev-list', '--boundary', '--stdin'], { input: rangeOf(tips, without) });
  return listed.match(/(?<=^-).*$/gm) ?? [];
}

/** Those of the edges that branches have. All others are in earlier parts. */
async function onBranches(git: Git, edges: readonly string[], known: readonly string[]): Promise<string[]> {
  if (edges.every((edge) => known.includes(edge))) return [...edges];
  const words = ['rev-list', '--no-walk=unsorted', '--stdin'];
  const elsewhere = new Set((await gitText(git, words, { input: rangeOf(edges, known) })).split('\n'));
  return edges.filter((edge) => !elsewhere.has(edge));
}

/** Up to this size nobody has to start a git for it: 5 ms. */
const SMALL = 64_000;

interface PartContent {
  /** Has the objects, and gets the part as it is before it is encrypted. */
  readonly scratch: ScratchObjects;
  readonly recipients: Recipients;
  /** Lines for git rev-list. */
  readonly wanted: string;
  /** Comes before the pack. */
  readonly first: object;
}

/** Appends a line and a pack to a file. Returns how many bytes the file has then. */
export async function writePart(
  { scratch, recipients, wanted, first }: PartContent,
  file: string,
): Promise<number> {
  const plain = join(scratch.dir, 'plain');
  writeFileSync(plain, `${JSON.stringify(first)}\n`);
  const stdout = openSync(plain, 'a');
  const words = ['pack-objects', '--revs', '--stdout', '--thin', '--delta-base-offset', '--quiet'];
  const pack = gitText(scratch.git, [...words, '--no-use-bitmap-index'], { input: wanted, stdout });
  const packing = pack.finally(() => closeSync(stdout));
  const content = async function* () {
    await packing;
    yield* createReadStream(plain);
  };
  // The library prepares itself while git packs.
  const [sealed] = await Promise.all([sealStream(recipients, ReadableStream.from(content())), packing]);
  await writeFile(file, sealed, { flag: 'a' });
  return statSync(file).size;
}

/** The same for everybody, so that it says nothing of its author. */
const NOBODY = 'agt <agt@local> 0 +0000';

function commitText(tree: string, parents: readonly string[]): string {
  const above = parents.map((parent) => `parent ${parent}\n`).join('');
  return `tree ${tree}\n${above}author ${NOBODY}\ncommitter ${NOBODY}\n\nagt\n`;
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

/** Takes the objects of a part. @throws an error if it is damaged or for other keys */
export async function takePart(
  git: Git,
  identities: Keys['identities'] | undefined,
  { commit, text }: { commit: string; text: string },
): Promise<Part> {
  const name = `${commit}:part`;
  let tips: string[] = [];
  const size = (await findObjects(git, [name]))[0]?.size ?? 0;
  await readContents(git, [name], async (_, chunks) => {
    const { first, pack } = await openPart(identities, Readable.from(chunks));
    tips = (first as { tips: string[] }).tips;
    await takePack(git, pack);
  });
  return { commit, text, size, tips };
}

/** Of what `writePart` has written, the line and the pack. */
export async function openPart(identities: Keys['identities'] | undefined, source: Readable) {
  const chunks = (await openStream(identities, Readable.toWeb(source) as Bytes)).values();
  let start = Buffer.alloc(0);
  while (!start.includes('\n')) {
    const next = await chunks.next();
    if (next.done === true) throw new Error('it ends before the pack');
    start = Buffer.concat([start, next.value]);
  }
  const end = start.indexOf('\n');
  const pack = async function* () {
    yield start.subarray(end + 1);
    yield* chunks;
  };
  return { first: JSON.parse(start.toString('utf8', 0, end)) as unknown, pack: pack() };
}

export async function takePack(git: Git, pack: AsyncIterable<Uint8Array>): Promise<void> {
  const words = [...FSYNC_ARGS, 'index-pack', '--stdin', '--fix-thin'];
  const indexing = spawnGit(git, words, { stdio: 'pipe' });
  const indexed = endOf(indexing);
  // git ends with the last byte of the pack, maybe before the end of the source has come.
  const fed = pipeline(pack, indexing.stdin as Writable).catch(() => {});
  const end = await indexed;
  if (end.exitCode !== 0) throw gitFailed(words, { ...end, exitCode: end.exitCode ?? EXIT.git });
  await fed;
}
