import { expect } from 'vitest';
import { REAL_GIT, run } from '../harness/world.ts';

/** git fsck finds no error. */
export function expectSound(repository: string): void {
  expect(run(REAL_GIT, ['fsck', '--strict', '--no-dangling'], { cwd: repository })).toMatchObject({
    exitCode: 0,
  });
}
