import { test } from 'vitest';
import { InterruptibleSleep } from '../../../src/triggers/watch/session-watcher.ts';

test('a wake before any sleep ends the next sleep, and no later one', async () => {
  const pause = new InterruptibleSleep();
  pause.wake();
  await pause.sleep(undefined);
  const sleeping = pause.sleep(undefined);
  pause.wake();
  await sleeping;
  await pause.sleep(1);
});
