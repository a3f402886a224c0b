/** A checkout while another process replaces directories with links. */
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { applyPlan } from '../../src/checkout/apply.ts';
import type { CheckoutPlan } from '../../src/checkout/plan.ts';
import { openGit } from '../../src/git/run/git.ts';
import { git, makeRepository, makeTempDir, REAL_GIT, write } from '../harness/world.ts';

test.each(['sandbox/d', 'sandbox/d/e'])(
  '%s becomes a link in the middle: nothing outside changes',
  async (swapped) => {
    const repository = makeRepository({ file: 'restored\n' });
    const oid = git(repository, 'rev-parse', 'HEAD:file');
    const [folder, outside] = [makeTempDir('folder'), makeTempDir('outside')];
    const names = ['x', 'y', 'e/x', 'e/y', 'e/z', 'e/deleted'];
    mkdirSync(join(outside, 'e'));
    for (const name of names) {
      write(join(folder, 'sandbox/d', name), 'inside\n');
      write(join(outside, name), 'outside\n');
    }
    const paths = names.map((name) => `sandbox/d/${name}`);
    const deleted = 'sandbox/d/e/deleted';
    const plan: CheckoutPlan = {
      deletions: [deleted],
      emptiedDirectories: [],
      emptyDirectories: { made: [], removed: [] },
      directories: new Map([['sandbox/d/new', 0o755]]),
      writes: paths
        .filter((path) => path !== deleted)
        .map((path) => ({ path, oid, kind: 'file', bits: 0o644, isNew: false })),
      modes: new Map([['sandbox/d/e/x', 0o600]]),
      owners: new Map(),
      blocked: [],
    };
    let isSwapped = false;
    const isCaptured = (path: string) => {
      if (path === 'sandbox/d/e/x' && !isSwapped) {
        renameSync(join(folder, swapped), join(folder, 'away'));
        symlinkSync(swapped.endsWith('e') ? join(outside, 'e') : outside, join(folder, swapped));
        isSwapped = true;
      }
      return true;
    };
    await applyPlan(openGit(REAL_GIT, repository, process.env), plan, { path: folder, isCaptured });
    expect(isSwapped).toBe(true);
    for (const name of names) expect(readFileSync(join(outside, name), 'utf8')).toBe('outside\n');
    expect(existsSync(join(outside, 'new'))).toBe(false);
  },
);
