/**
 * Stores commits whose objects are made here, byte for byte, in one pack: git has no command that takes several commit
 * objects as they are. The pack is checked, flushed and named by `git index-pack`, and appears whole.
 */
import { createHash, type Hash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { FLUSHED, type Git, gitText } from '../run/git.ts';

const COMMIT = 1;

/** `sha1` or `sha256`, by an object name of the repository. */
function hashLike(oid: string): Hash {
  return createHash(oid.length === 64 ? 'sha256' : 'sha1');
}

/** The name of a commit object with this content; `like` is any other name in the repository. */
export function commitName(content: Buffer, like: string): string {
  return hashLike(like).update(`commit ${content.length}\0`).update(content).digest('hex');
}

/** `contents` are whole commit objects; what they refer to is in the repository or among them. */
export async function storeCommits(git: Git, contents: readonly Buffer[], like: string): Promise<void> {
  if (contents.length === 0) return;
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(contents.length, 8);
  const entries = contents.flatMap((content) => [entryHeader(COMMIT, content.length), deflateSync(content)]);
  const body = Buffer.concat([header, ...entries]);
  const pack = Buffer.concat([body, hashLike(like).update(body).digest()]);
  await gitText(git, [...FLUSHED, 'index-pack', '--stdin', '--strict'], { input: pack });
}

/** Type and size as gitformat-pack(5) has them: four bits of the size, then seven in each further byte. */
function entryHeader(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let byte = (type << 4) | (size & 15);
  for (let rest = size >> 4; rest > 0; rest >>= 7) {
    bytes.push(byte | 0x80);
    byte = rest & 0x7f;
  }
  return Buffer.from([...bytes, byte]);
}
