/** A copy of the sandbox's index for git to work on, so that agt never locks the index itself. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';

/** The copy is beside the original: git looks there for the shared part of a split index. */
export async function withIndexCopy<T>(
  gitDir: string,
  raw: Buffer,
  action: (copy: string) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(gitDir, `agt-index-${process.pid}-`));
  try {
    const copy = join(directory, 'index');
    writeFileSync(copy, raw);
    failurePoint('capture: index copied');
    return await action(copy);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
