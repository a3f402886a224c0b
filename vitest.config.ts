import { defineConfig } from 'vitest/config';
import { filesOfToday, filesRotate } from './test/harness/long-files.ts';
import LongestFirst from './test/harness/longest-first.ts';
import { isQuick, quickTests } from './test/harness/quick.ts';

export default defineConfig({
  test: {
    include: isQuick ? quickTests() : filesRotate ? filesOfToday() : ['test/**/*.test.ts'],
    globalSetup: ['test/harness/build.ts'],
    reporters: ['default', './test/harness/summary.ts', './test/harness/watchdog.ts'],
    setupFiles: ['test/harness/environment.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 60_000,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
  },
});
