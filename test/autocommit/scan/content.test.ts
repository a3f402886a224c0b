/** Reading and streaming single files that are gone, shrink or lie elsewhere by the time. */
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readContent, streamContent, UnstableFile } from '../../../src/autocommit/scan/content.ts';
import { insideCheck } from '../../../src/disk/is-inside.ts';
import { git, makeTempDir } from '../../harness/world.ts';

const LARGE = 5_000_000;
let folder: string;
let path: string;
let sent: Buffer[];
const to = { write: async (chunk: string | Uint8Array) => void sent.push(Buffer.from(chunk as string)) };

beforeEach(() => {
  folder = makeTempDir('content');
  path = join(folder, 'large');
  writeFileSync(path, Buffer.alloc(LARGE, 'x'));
  sent = [];
});

describe('a large file', () => {
  test('gets the object name that git gives it, and is streamed as one blob', async () => {
    const content = readContent(path, 'sha1', insideCheck(folder));
    expect(content.bytes).toBeUndefined();
    expect(content.oid).toBe(git(folder, 'hash-object', '--no-filters', path));
    expect(await streamContent(path, content, to, insideCheck(folder))).toBe(true);
    expect(Buffer.concat(sent).toString()).toBe(`blob\ndata ${LARGE}\n${'x'.repeat(LARGE)}\n`);
  });

  test('that was deleted after it was hashed: nothing is written, and the stream continues', async () => {
    const content = readContent(path, 'sha1', insideCheck(folder));
    rmSync(path);
    await expect(streamContent(path, content, to, insideCheck(folder))).rejects.toThrow('ENOENT');
    expect(sent).toEqual([]);
  });

  test('that has shrunk since: as many bytes as were promised, and no', async () => {
    const content = readContent(path, 'sha1', insideCheck(folder));
    truncateSync(path, 3_000_000);
    expect(await streamContent(path, content, to, insideCheck(folder))).toBe(false);
    expect(Buffer.concat(sent).length).toBe(`blob\ndata ${LARGE}\n`.length + LARGE + 1);
  });
});

describe('a directory that has become a link', () => {
  test('is not followed, whatever it points to', async ({ skip }) => {
    skip(process.platform !== 'linux', 'needs /proc');
    const outside = makeTempDir('outside');
    writeFileSync(join(outside, 'secret'), 'secret');
    writeFileSync(join(outside, 'large'), Buffer.alloc(LARGE, 'x'));
    const isInside = insideCheck(folder);
    const content = readContent(path, 'sha1', isInside);
    symlinkSync(outside, join(folder, 'dir'));
    expect(() => readContent(join(folder, 'dir/secret'), 'sha1', isInside)).toThrow(UnstableFile);
    expect(await streamContent(join(folder, 'dir/large'), content, to, isInside)).toBe(false);
    expect(sent).toEqual([]);
  });

  test('a session folder behind a link works like any other', () => {
    const link = join(makeTempDir(), 'link');
    symlinkSync(folder, link);
    mkdirSync(join(folder, 'd\xfcr'));
    writeFileSync(join(folder, 'd\xfcr/file'), 'x');
    const latin1 = (text: string) => Buffer.from(text).toString('latin1');
    const isInside = insideCheck(latin1(link));
    expect(readContent(latin1(join(link, 'd\xfcr/file')), 'sha1', isInside).bytes?.toString()).toBe('x');
  });
});
