/** Counts the tests in one line, which scripts/test prints last, and prints why tests were skipped. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      for (const test of tests) {
        count[test.result().state] += 1;
        const { note } = test.result().state === 'skipped' ? (test.result() as { note?: string }) : {};
        if (note !== undefined) console.log(`skipped: ${test.fullName}: ${note}`);
      }
      if (tests.length === 0 && module.state() === 'failed') count.failed += 1;
    }
    const line = `${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped`;
    writeSummary(line);
  }
}

/** The line that scripts/test prints last. */
export function writeSummary(line: string): void {
  writeFileSync(join(import.meta.dirname, '../../node_modules/.agt-test-summary'), `${line}\n`);
}
