/** Counts the tests in one line, which scripts/test prints last, under the names of those that failed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    const failures = errors.map((error) => `failed: ${messageOf(error)}\n`);
    for (const module of modules) {
      const file = module.relativeModuleId;
      const tests = [...module.children.allTests()];
      const skipped = new Map<string, number>();
      for (const test of tests) {
        const result = test.result();
        count[result.state] += 1;
        if (result.state === 'failed')
          failures.push(`failed: ${file}: ${test.fullName}: ${messageOf(result.errors[0])}\n`);
        if (result.state === 'skipped' && result.note !== undefined) {
          skipped.set(result.note, (skipped.get(result.note) ?? 0) + 1);
        }
      }
      for (const [note, number] of skipped)
        console.log(`skipped: ${file}: ${number} of ${tests.length}: ${note}`);
      if (tests.length === 0 && module.state() === 'failed') {
        count.failed += 1;
        failures.push(`failed: ${file}\n`);
      }
    }
    const line = `${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped`;
    writeSummary(`${failures.join('')}${line}`);
  }
}

/** In one line. Often the end of the log is all that its reader has. */
function messageOf(error: unknown): string {
  const { message = String(error) } = (error ?? {}) as Partial<Error>;
  return message.replaceAll(/\s*\n\s*/g, ' | ').slice(0, 800);
}

/** The lines that scripts/test prints last. */
export function writeSummary(lines: string): void {
  writeFileSync(join(import.meta.dirname, '../../node_modules/.agt-test-summary'), `${lines}\n`);
}
