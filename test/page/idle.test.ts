/** An agt ui that nobody looks at ends; the clock is set forward. */
import { type ClientRequest, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { findPage, servePage } from '../../src/page/session-of-page.ts';
import { makeRepository, makeTempDir, write } from '../harness/world.ts';

const MINUTE_MS = 60_000;
const [, program = ''] = process.argv;

afterEach(() => {
  vi.useRealTimers();
  process.argv[1] = program;
});

test('it ends once no page has been there for an hour, and not before', async () => {
  const list = join(makeTempDir('list'), 'list.js');
  write(list, 'setInterval(() => undefined, 1_000);\n');
  process.argv[1] = list;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  const options = { cwd: makeRepository(), port: 0, all: false, run: async () => undefined };
  let hasEnded = false;
  let ended = Promise.resolve();
  const address = await new Promise<string>((resolve) => {
    ended = servePage(options, process.env, resolve).then(() => {
      hasEnded = true;
    });
  });
  const after = async (minutes: number) => {
    vi.advanceTimersByTime(minutes * MINUTE_MS);
    await sleep(100);
    return hasEnded;
  };
  const page = await new Promise<ClientRequest>((resolve) => {
    const asked = get(`${address}events`, () => resolve(asked)).on('error', () => undefined);
  });
  expect(await after(180)).toBe(false);
  page.destroy();
  await sleep(100);
  expect(await after(59)).toBe(false);
  expect(await findPage(options, process.env)).toBe(address);
  expect(await after(2)).toBe(true);
  await ended;
  expect(await findPage(options, process.env)).toBeUndefined();
});
