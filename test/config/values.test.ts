import { expect, test } from 'vitest';
import { parseBoolean, parseSize, showSize } from '../../src/config/values.ts';

test.each([
  ['0', 0],
  ['512m', 512 * 1024 ** 2],
  ['2G', 2 * 1024 ** 3],
  [' 3kb ', 3 * 1024],
  ['', undefined],
  ['-1', undefined],
  ['1.5g', undefined],
  ['99999999999t', undefined],
])('the size "%s" is %s bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1023, '1023 bytes'],
  [1024, '1.00 KiB'],
  [1024 ** 2, '1.00 MiB'],
  [1.5 * 1024 ** 3, '1.50 GiB'],
])('%s bytes are shown as "%s"', (bytes, text) => {
  expect(showSize(bytes)).toBe(text);
});

test.each([
  ['yes', true],
  ['On', true],
  ['0', false],
  ['', false],
  ['maybe', undefined],
])('the boolean "%s" is %s', (text, value) => {
  expect(parseBoolean(text)).toBe(value);
});
