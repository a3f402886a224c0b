/** The records of frozen moments. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { momentFiles, momentPath } from '../../src/layout.ts';
import { newToken } from '../../src/providers/token.ts';
import { forgetMoment, isThere, listMoments, writeMoment } from '../../src/workspace/moments.ts';
import { makeTempDir } from '../harness/world.ts';

test('frozen moments are listed by number, also after a move, and agt knows whether their folders are there', () => {
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
  mkdirSync(folder, { recursive: true });
  expect(moments.map(isThere)).toEqual([true, true]);
  for (const number of [9, 10, 11]) forgetMoment(agtDir, 's1', number);
  expect(listMoments(agtDir, owner)).toEqual([]);
});
