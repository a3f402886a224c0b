/** The part of a session's metadata that git mode reads: complete, or not at all. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseSessionFile, readSessionFile, readSessionFiles } from '../../src/filter/session-file.ts';
import { makeSession } from '../harness/session.ts';
import { agtOk, makeTempDir, write } from '../harness/world.ts';

const COMPLETE = { session_id: 's1', sandbox: '/sessions/s1/sandbox', state: 'active' };

test('metadata may hold more than git mode reads', () => {
  expect(
    parseSessionFile(JSON.stringify({ ...COMPLETE, branch: 'refs/heads/agtsessions/s1' })),
  ).toMatchObject(COMPLETE);
});

test.each([
  ['text that is not JSON', '{'],
  ['null', 'null'],
  ['a number', '1'],
  ['no session id', JSON.stringify({ ...COMPLETE, session_id: undefined })],
  ['no sandbox', JSON.stringify({ ...COMPLETE, sandbox: undefined })],
  ['no state', JSON.stringify({ ...COMPLETE, state: undefined })],
  ['a sandbox that is no text', JSON.stringify({ ...COMPLETE, sandbox: 1 })],
])('%s is no metadata', (_, text) => expect(parseSessionFile(text)).toBeUndefined());

test('damaged files and other files are passed over', () => {
  const agtDir = makeTempDir('agt');
  expect(readSessionFiles(agtDir)).toEqual([]);
  write(join(agtDir, 'sessions/s1.json'), JSON.stringify(COMPLETE));
  write(join(agtDir, 'sessions/damaged.json'), '{');
  write(join(agtDir, 'sessions/s2.json.tmp'), JSON.stringify(COMPLETE));
  expect(readSessionFiles(agtDir)).toEqual([COMPLETE]);
  expect(readSessionFile(agtDir, 's1')).toEqual(COMPLETE);
  expect(readSessionFile(agtDir, 'damaged')).toBeUndefined();
  expect(readSessionFile(agtDir, 's2')).toBeUndefined();
});

test('it reads what agt session new and agt session remove write', () => {
  const { repository, sandbox } = makeSession();
  const agtDir = join(repository, '.git/agt');
  expect(readSessionFiles(agtDir)).toMatchObject([{ session_id: 's1', sandbox, state: 'active' }]);
  agtOk(repository, 'session', 'remove', 's1');
  expect(readSessionFile(agtDir, 's1')?.state).toBe('removed');
});
