/**
 * Starts the test files that lasted longest in the last run first, so that at the end no worker waits for another; before
 * the first run, those of a list. The long files of other days come after all others, so that a slow machine leaves out
 * only them. The agents come last: they are installed meanwhile.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { filesOfToday } from './long-files.ts';

const LONG =
  /\/(killed-(at-\w+(-\d)?|landing|git)|lives|twin|contract|safety|rewrites|shim|half-made-\w+)\.test\.ts$/;

const AGENT = /\/test\/agents\//;

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files); // by the durations that vitest has kept
    const isFirstRun = !files.some((file) => this.ctx.cache.getTestSpecificationResult(file));
    const own = new Set(filesOfToday());
    const rank = ({ moduleId }: TestSpecification) => {
      if (AGENT.test(moduleId)) return 3;
      if (!own.has(relative(this.ctx.config.root, moduleId))) return 2;
      return isFirstRun && LONG.test(moduleId) ? 0 : 1;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
