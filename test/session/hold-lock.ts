/** Takes a lock, says so, and holds it until it is killed: node hold-lock.ts PATH */
import { withLock } from '../../src/disk/lock.ts';

const [path] = process.argv.slice(2);
await withLock(path as string, 'a test', async () => {
  process.stdout.write('held\n');
  await new Promise((resolve) => setTimeout(resolve, 1 << 30));
});
