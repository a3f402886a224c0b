/**
 * Starts the test files that take minutes first, so that at the end no worker waits for another. The agents come last:
 * they are installed meanwhile.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONG = /\/(killed-at-\w+(-\d)?|killed-landing|odd-lives|even-lives|twin)\.test\.ts$/;

const AGENT = /\/test\/agents\//;

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) =>
      LONG.test(moduleId) ? 0 : AGENT.test(moduleId) ? 2 : 1;
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
