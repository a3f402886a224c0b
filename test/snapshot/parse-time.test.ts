import { expect, test } from 'vitest';
import { parseSince } from '../../src/agtmode/output/history.ts';
import { openGit } from '../../src/git/run/git.ts';
import { parseTime } from '../../src/snapshot/resolve-snapshot.ts';
import { REAL_GIT } from '../harness/world.ts';

const now = new Date('2026-11-20T12:00:00Z');
const realGit = openGit(REAL_GIT, process.cwd(), process.env);
const parse = (text: string) => parseTime(realGit, text, now);

test.each([
  ['now', '2026-11-20T12:00:00.000Z'],
  ['10 minutes ago', '2026-11-20T11:50:00.000Z'],
  ['10.minutes.ago', '2026-11-20T11:50:00.000Z'],
  ['two hours ago', '2026-11-20T10:00:00.000Z'],
  ['yesterday', '2026-11-19T12:00:00.000Z'],
  ['yesterday noon', '2026-11-19T12:00:00.000Z'],
  ['2026-11-20 09:30', '2026-11-20T09:30:00.000Z'],
  ['2026-11-20T09:30:00+0100', '2026-11-20T08:30:00.000Z'],
  ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000Z'],
  ['Nov 19 2026 10:00', '2026-11-19T10:00:00.000Z'],
  ['last friday', '2026-11-13T12:00:00.000Z'],
  ['monday', '2026-11-16T12:00:00.000Z'],
  ['Thu 23:00', '2026-11-19T23:00:00.000Z'],
  ['friday', '2026-11-20T12:00:00.000Z'],
  ['2024-02-29 23:59:59', '2024-02-29T23:59:59.000Z'],
  ['9:30', '2026-11-20T09:30:00.000Z'],
  ['@1795170000', '2026-11-20T10:20:00.000Z'],
])('"%s" is a time', async (text, iso) => {
  expect((await parse(text))?.toISOString()).toBe(iso);
});

test.each([
  '',
  '4',
  '20',
  'monkey 3',
  'step 4',
  'tests pass',
  'before git reset',
  'x',
  'at',
  'one',
  'second',
  'last',
  '10 минут',
  '2026-13-05',
  '2026-11-31 10:00',
  '2026-02-29',
  '2026-11-20 25:00',
  '12:60',
  '2026-11-20T09:30:61Z',
])('%j is not a time', async (text) => {
  expect(await parse(text)).toBeUndefined();
});

test.each([
  ['friday', '2026-11-20'],
  ['Friday', '2026-11-20'],
  ['thursday', '2026-11-19'],
  ['saturday', '2026-11-14'],
  ['last friday', '2026-11-13'],
])('on a Friday, the day "%s" is %s', async (text, day) => {
  for (const time of ['00:00:00', '23:59:59'])
    expect(await parseSince(realGit, text, now, time)).toEqual(new Date(`${day}T${time}`));
});
