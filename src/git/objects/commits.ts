/**
 * Reads and stores commit objects byte for byte. git has no command that stores several commit objects as they are, so
 * agt writes them into one pack. `git index-pack` checks, flushes and names that pack; it appears as a whole or not at all.
 */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { AgtError } from '../../errors.ts';
import { FSYNC_ARGS, type Git, gitText } from '../run/git.ts';
import { hashNameOf, openHash } from './hash.ts';
import { readObjects } from './object-reader.ts';

/** Types of objects in a pack, the version of a pack and the length of its header: gitformat-pack(5). */
const TYPES = { commit: 1, tree: 2, blob: 3 } as const;
const PACK_VERSION = 2;
const PACK_HEADER_LENGTH = 12;

export interface NewObject {
  readonly type: keyof typeof TYPES;
  readonly content: Buffer;
}

/** `like` is any other object name of the repository. */
export function objectName(object: NewObject, like: string): string {
  return openHash(hashNameOf(like)).update(wholeObject(object)).digest();
}

/** As git hashes it, and compresses it into a file of its own. */
export function wholeObject({ type, content }: NewObject): Buffer {
  return Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
}

/** The object name of a commit with this content. */
export function commitOid(content: Buffer, like: string): string {
  return objectName({ type: 'commit', content }, like);
}

/** `all` are whole commit objects. The objects that they name are in the repository or among them. */
export async function storeCommits(git: Git, all: readonly Buffer[], like: string): Promise<void> {
  await storeObjects(
    git,
    all.map((content) => ({ type: 'commit', content })),
    like,
  );
}

/** As one pack. */
export async function storeObjects(git: Git, all: readonly NewObject[], like: string): Promise<void> {
  if (all.length === 0) return;
  const input = packOf(all, like);
  await gitText(git, [...FSYNC_ARGS, 'index-pack', '--stdin', '--strict'], { input, isPrivate: true });
}

function packOf(all: readonly NewObject[], like: string): Buffer {
  // git refuses a pack that has an object twice.
  const objects = [...new Map(all.map((one) => [one.content.toString('latin1'), one])).values()];
  const header = Buffer.alloc(PACK_HEADER_LENGTH);
  header.write('PACK');
  header.writeUInt32BE(PACK_VERSION, 4);
  header.writeUInt32BE(objects.length, 8);
  const entries = objects.flatMap(({ type, content }) => [
    entryHeader(TYPES[type], content.length),
    deflateSync(content),
  ]);
  const body = Buffer.concat([header, ...entries]);
  return Buffer.concat([body, createHash(hashNameOf(like)).update(body).digest()]);
}

/** Type and size as gitformat-pack(5) defines them: four bits of the size, then seven in each further byte. */
function entryHeader(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let byte = (type << 4) | (size & 15);
  for (let rest = size >> 4; rest > 0; rest >>= 7) {
    bytes.push(byte | 0x80);
    byte = rest & 0x7f;
  }
  return Buffer.from([...bytes, byte]);
}

/** Contents by object name, one byte per character. @throws AgtError for an object that is missing or not a commit. */
export async function readCommits(git: Git, oids: readonly string[]): Promise<Map<string, string>> {
  const found = await readObjects(git, oids);
  return new Map(
    oids.map((oid, i) => {
      const object = found[i];
      if (object?.type !== 'commit') throw new AgtError(`git cannot read commit ${oid}`);
      return [oid, object.content.toString('latin1')];
    }),
  );
}
