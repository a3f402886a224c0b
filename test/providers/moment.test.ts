/** The records of frozen moments, and the way from a snapshot to its frozen folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forgetMoment, frozenView, isThere, listMoments, writeMoment } from '../../src/providers/moment.ts';
import { newToken } from '../../src/providers/token.ts';
import { momentFiles, momentPath } from '../../src/repository/layout.ts';
import { makeTempDir } from '../harness/world.ts';

test('a frozen moment is found by its snapshot, also after a move, as long as its folder is there', () => {
  const [agtDir, area] = [makeTempDir('agt'), makeTempDir('area')];
  const owner = { session_id: 's1', sandbox: join(area, 'sessions/s1/sandbox') };
  const named = newToken('zfs', momentPath('/elsewhere/sessions', 's1'));
  const token = { ...named, path: `${named.path}-${named.nonce}` };
  const folder = join(area, 'frozen', `moment-s1-${token.nonce}`);
  expect(listMoments(agtDir, owner)).toEqual([]);
  const made = '2026-01-01T00:00:00.000Z';
  writeMoment(agtDir, 's1', { number: 10, token, made, commit: 'c10' });
  writeMoment(agtDir, 's1', { number: 9, token, made, commit: 'c9' });
  writeFileSync(momentFiles(agtDir, 's1', 11).record, '{"token"');
  const moments = listMoments(agtDir, owner);
  expect(moments.map(({ number, commit, token: { path } }) => [number, commit, path])).toEqual([
    [9, 'c9', folder],
    [10, 'c10', folder],
  ]);
  expect(moments.map(isThere)).toEqual([false, false]);
  expect(frozenView(agtDir, owner, 'c10')).toBeUndefined();
  mkdirSync(folder, { recursive: true });
  expect(frozenView(agtDir, owner, 'c10')).toBe(folder);
  expect(frozenView(agtDir, owner, 'c11')).toBeUndefined();
  for (const number of [9, 10, 11]) forgetMoment(agtDir, 's1', number);
  expect(frozenView(agtDir, owner, 'c10')).toBeUndefined();
});
