/** src/git/objects/hash.ts against node:crypto. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openHash } from '../../../src/git/objects/hash.ts';

const parts = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 });

test('it takes what a part held when it came: a reader uses one buffer for all parts', () => {
  const buffer = Buffer.from('one');
  const hash = openHash('sha1').update(buffer);
  buffer.write('two');
  expect(hash.update(buffer).digest()).toBe(createHash('sha1').update('onetwo').digest('hex'));
});

test('a hash of any parts is the one of node:crypto, before and after the module loads that', () => {
  for (const total of [0, 55, 56, 63, 64, 65, 119, 120, 1000]) same('sha1', [Buffer.alloc(total, 'x')]);
  fc.assert(fc.property(parts, (given) => same('sha1', given)));
  fc.assert(
    fc.property(parts, (given) => same('sha256', given)),
    { numRuns: 10 },
  );
  const large = Buffer.alloc(70_000, 'ab');
  same('sha1', [Buffer.from('small'), large, Buffer.from('small'), large, large]);
  fc.assert(fc.property(parts, (given) => same('sha1', given)));
});

function same(name: 'sha1' | 'sha256', given: readonly Uint8Array[]): void {
  const [ours, theirs] = [openHash(name), createHash(name)];
  for (const part of given) {
    ours.update(part);
    theirs.update(part);
  }
  expect(ours.digest()).toBe(theirs.digest('hex'));
}
