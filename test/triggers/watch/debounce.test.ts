import { expect, test } from 'vitest';
import { Debounce } from '../../../src/triggers/watch/watched-session.ts';

test('due some time after the last change, but no later than some time after the first', () => {
  const debounce = new Debounce(2, 30);
  expect(debounce.due()).toBeUndefined();
  debounce.changed(100);
  expect(debounce.due()).toBe(102);
  debounce.changed(101);
  expect(debounce.due()).toBe(103);
  for (let now = 102; now < 140; now++) debounce.changed(now);
  expect(debounce.due()).toBe(130);
  debounce.started();
  expect(debounce.due()).toBeUndefined();
  debounce.changed(150);
  expect(debounce.due()).toBe(152);
});
