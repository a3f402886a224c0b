/** A clone that fails or is interrupted leaves nothing behind. */

import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, resolve } from 'node:path';
import { AgtError } from '../errors.ts';

/**
 * Call it before anything is made. Returns a function that removes the targets and the parents that did not exist, and
 * recreates targets that were empty directories.
 */
export function prepareRemoval(targets: readonly string[], parent: string): () => void {
  const existing = targets.filter((target) => existsSync(target));
  const newParents: string[] = [];
  for (let dir = resolve(parent); !existsSync(dir); dir = dirname(dir)) newParents.push(dir);
  return () => {
    for (const target of targets) rmSync(target, { recursive: true, force: true });
    for (const target of existing) mkdirSync(target);
    for (const dir of newParents) {
      try {
        rmdirSync(dir);
      } catch {
        return; // not empty, or never made
      }
    }
  };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Keeps agt alive when it is interrupted, so that it can clean up. `signal` aborts the git that is running. */
export function catchInterrupts() {
  const controller = new AbortController();
  let caught: NodeJS.Signals | undefined;
  const remember = (signal: NodeJS.Signals) => {
    caught ??= signal;
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, remember);
  return {
    signal: controller.signal,
    /** @throws AgtError with the exit code that a shell gives to a process that the signal killed. */
    throwIfAny: () => {
      if (caught === undefined) return;
      throw new AgtError('interrupted; nothing is left of the clone', {
        exitCode: 128 + constants.signals[caught],
      });
    },
    release: () => {
      for (const signal of SIGNALS) process.off(signal, remember);
    },
  };
}
