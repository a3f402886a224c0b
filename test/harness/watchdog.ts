/**
 * Ends a test run that lasts too long: says which test files are still running, and kills them.
 * scripts/test gives the time at which that happens in AGT_TEST_END.
 */
import { execFileSync } from 'node:child_process';
import type { Reporter, TestModule } from 'vitest/node';
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
    writeSummary(`0 passed, 1 failed, 0 skipped: too late, ${this.running.size} files were still running`);
    killDescendants();
    process.exit(1);
  }
}

function killDescendants(): void {
  const listed = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8', timeout: 10_000 });
  const pairs = listed.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const found = [process.pid];
  for (const parent of found) for (const [pid = 0, its] of pairs) if (its === parent) found.push(pid);
  for (const pid of found.slice(1)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}
