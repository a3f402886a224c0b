/** Very large files and very long paths. */
import { appendFileSync, chmodSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, snapshotTree } from '../../harness/session.ts';
import { git } from '../../harness/world.ts';
import { during, shell } from './compare-with-disk.ts';

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const MIB = 1024 * 1024;

describe('size', () => {
  test('a sparse file of 300 MB is captured whole, in less memory', { timeout: 120_000 }, async ({
    skip,
  }) => {
    skip(process.platform !== 'linux', 'memory is read from /proc');
    const session = makeSession();
    const path = join(session.sandbox, 'sparse');
    writeFileSync(path, 'begin');
    truncateSync(path, 300 * MIB);
    appendFileSync(path, 'end');
    let most = 0;
    const code = await during(session, (_, pid) => {
      const status = readIfThere(`/proc/${pid}/status`);
      most = Math.max(most, Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1] ?? 0) * 1024);
    });
    expect(code).toBe(0);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(200 * MIB);
    expect(git(session.repository, 'rev-parse', 'agtsessions/s1:sandbox/sparse')).toBe(
      git(session.sandbox, 'hash-object', '--no-filters', 'sparse'),
    );
  });

  test('a path of 4,000 bytes', () => {
    const session = makeSession();
    const parts = Array.from({ length: 20 }, (_, i) => String(i % 10).repeat(180));
    // Longer than a path may be for one call: made step by step.
    shell(session.sandbox, `for d in ${parts.join(' ')}; do mkdir $d && cd $d; done; echo deep >file`);
    chmodSync(session.sandbox, 0o755);
    autocommit(session);
    const captured = snapshotTree(session, 'agtsessions/s1').get(`sandbox/${parts.join('/')}/file`);
    expect(captured).toBe('100644 deep\n');
    expect(readFileSync(join(session.sandbox, 'README.md'), 'utf8')).toBe('hello\n');
  });
});
