/** Starts the test files that take minutes first, so that at the end no worker waits for another. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONG = /\/(killed-at-\w+(-\d)?|killed-landing|odd-lives|even-lives|twin)\.test\.ts$/;

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
