/** Takes a lock, says so, and holds it, at most so many milliseconds: node hold-lock.ts PATH [MILLISECONDS] */
import { setTimeout as sleep } from 'node:timers/promises';
import { withLock } from '../../src/disk/lock.ts';

const [path, milliseconds = 1 << 30] = process.argv.slice(2);
await withLock(path as string, 'a test', async () => {
  process.stdout.write('held\n');
  await sleep(Number(milliseconds));
});
