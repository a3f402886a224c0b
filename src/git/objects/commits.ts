/**
 * Commit objects, byte for byte: reads many with one git, and stores many in one pack, since git has no command that
 * takes several commit objects as they are. `git index-pack` checks, flushes and names the pack, so it appears whole.
 */
import { createHash, type Hash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { AgtError } from '../../errors.ts';
import { FSYNC_ARGS, type Git, gitBytes, gitText } from '../run/git.ts';

const COMMIT = 1;

/** `sha1` or `sha256`, by an object name of the repository. */
function hashLike(oid: string): Hash {
  return createHash(oid.length === 64 ? 'sha256' : 'sha1');
}

/** The name of a commit object with this content; `like` is any other name in the repository. */
export function commitOid(content: Buffer, like: string): string {
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
  await gitText(git, [...FSYNC_ARGS, 'index-pack', '--stdin', '--strict'], { input: pack });
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

/** By object name; one byte per character. @throws AgtError for an object that is missing or no commit. */
export async function readCommits(git: Git, oids: readonly string[]): Promise<Map<string, string>> {
  const commits = new Map<string, string>();
  if (oids.length === 0) return commits;
  const input = oids.map((oid) => `${oid}\n`).join('');
  const output = (await gitBytes(git, ['cat-file', '--batch', '--buffer'], { input })).toString('latin1');
  for (let offset = 0; offset < output.length; ) {
    const lineEnd = output.indexOf('\n', offset);
    const [oid = '', type, size] = output.slice(offset, lineEnd).split(' ');
    if (type !== 'commit') throw new AgtError(`${oid} is not a commit that git can read`);
    const end = lineEnd + 1 + Number(size);
    commits.set(oid, output.slice(lineEnd + 1, end));
    offset = end + 1;
  }
  return commits;
}
