import { expect, test } from 'vitest';
import { findKey, SETTING_KEYS } from '../../src/config/setting-table.ts';
import { showValue } from '../../src/config/settings.ts';

test.each(SETTING_KEYS.map((key) => [key.name, key] as const))('the default of %s is valid', (_, key) => {
  expect(key.check(key.defaultValue)).toBeUndefined();
});

test('names are case-insensitive, as in git-config', () => {
  expect(findKey('AGT.maxfilesize')?.name).toBe('agt.maxFileSize');
  expect(findKey('agt.nothing')).toBeUndefined();
});

test('an empty value is shown with its meaning', () => {
  expect(showValue('agt.gitPath', '')).toBe('(search PATH)');
  expect(showValue('agt.budget', '')).toBe('(no limit)');
  expect(showValue('agt.budget', '10g')).toBe('10g');
});

test.each([
  ['agt.agentEmail', 'bot@example.com', 'nobody'],
  ['agt.branchPrefix', 'bots/snapshots/', 'bots/.hidden/'],
  ['agt.workPrefix', 'bots/', 'bots'],
  ['agt.maxFileSize', '2g', 'big'],
  ['agt.retention', 'never', 'soon'],
  ['agt.snapshotRetention', '7 days', 'soon'],
  ['agt.budget', '10g', 'much'],
  ['agt.guard', 'off', 'perhaps'],
  ['fs.snapshots', 'git', 'tape'],
  ['fs.workingCopy', 'cow-overlay', 'copy'],
])('%s accepts "%s", but not "%s"', (name, valid, invalid) => {
  expect(findKey(name)?.check(valid)).toBeUndefined();
  expect(findKey(name)?.check(invalid)).toEqual(expect.any(String));
});
