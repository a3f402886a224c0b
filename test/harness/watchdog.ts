/**
 * Ends a test run that lasts too long: says which test files are still running, and kills them.
 * scripts/test gives the time at which that happens in AGT_TEST_END.
 */
import type { Reporter, TestModule } from 'vitest/node';
import { killProcesses, processesOf } from './processes.ts';
import { writeSummary } from './summary.ts';

export default class Watchdog implements Reporter {
  /** Since when. */
  private readonly running = new Map<string, number>();

  onInit(): void {
    const end = Number(process.env['AGT_TEST_END']);
    if (end > 0) setTimeout(() => this.end(), end * 1000 - Date.now()).unref();
  }

  onTestModuleQueued({ relativeModuleId }: TestModule): void {
    this.running.set(relativeModuleId, Date.now());
  }

  onTestModuleEnd({ relativeModuleId }: TestModule): void {
    this.running.delete(relativeModuleId);
  }

  private end(): void {
    for (const [path, start] of this.running)
      console.log(`running for ${Math.round((Date.now() - start) / 1000)} s: ${path}`);
    console.log(processesOf(process.pid));
    writeSummary(`0 passed, 1 failed, 0 skipped: too late, ${this.running.size} files were still running`);
    killProcesses(process.pid);
    process.exit(1);
  }
}
