/**
 * A lock lets one process at a time work on a session. It is a file that names its owner and appears whole, by link(2).
 * agt takes it over if the owner is gone: the process has ended, its number belongs to another process, or the machine
 * was restarted. The owner gives a sign of its life, so this holds across containers (lock-owner.ts).
 */
import { existsSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgtError, EXIT, errorCode, nameFile } from '../errors.ts';
import { throwIfInterrupted } from '../process/interrupts.ts';
import { failurePoint } from './failure-point.ts';
import {
  ageOf,
  dropOwned,
  giveLifeSign,
  hintsToWait,
  ownerHasEnded,
  ownerIsGone,
  ownerText,
} from './lock-owner.ts';
import { tryToMakeDirectories } from './make-directories.ts';
import { readIfThere } from './read-file.ts';

/** A process that breaks a stale lock and takes longer than this is taken for dead. */
const BREAKING_MS = 30_000;
const POLL_MS = 50;

/** `what` is locked, for the message. @throws AgtError with exit code 75 if another process holds the lock for `waitMs`. */
export async function withLock<T>(
  path: string,
  what: string | (() => string),
  action: () => Promise<T>,
  waitMs = 0,
): Promise<T> {
  const deadline = Date.now() + waitMs;
  tryToMakeDirectories(dirname(path));
  const sign = await giveLifeSign(dirname(path));
  const own = ownerText(sign?.name);
  try {
    while (!tryLink(path, own) && !((await breakStale(path, own)) && tryLink(path, own))) {
      if (Date.now() < deadline) {
        await sleep(POLL_MS);
        throwIfInterrupted();
        continue;
      }
      throw new AgtError(`another agt is using ${typeof what === 'string' ? what : what()}`, {
        exitCode: EXIT.busy,
        hints: hintsToWait(path),
      });
    }
    return await action();
  } finally {
    failurePoint('lock: action ended');
    if (readIfThere(path) === own) rmSync(path, { force: true });
    sign?.end();
  }
}

/** Whether a living process holds the lock. */
export async function isLocked(path: string): Promise<boolean> {
  return existsSync(path) && !(await ownerHasEnded(path)) && existsSync(path);
}

/** A name that no lock has: the names of locks of sessions do not begin with a dot. */
function beside(path: string, suffix: string): string {
  return join(dirname(path), `.${basename(path).replace(/^\./, '')}.${suffix}`);
}

function tryLink(path: string, own: string): boolean {
  const temporary = beside(path, `${process.pid}.tmp`);
  try {
    writeFileSync(temporary, own);
    failurePoint('lock: written');
    linkSync(temporary, path);
    failurePoint('lock: taken');
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw nameFile(error, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Removes the lock if its owner is gone; true if the lock is free now. Only one process at a time breaks it, and checks
 * again when it may: so a process that saw the stale lock never removes the fresh one that came after it.
 */
async function breakStale(path: string, own: string): Promise<boolean> {
  if (!(await ownerHasEnded(path))) return readIfThere(path) === '';
  const breaking = beside(path, 'breaking');
  dropIfStale(breaking);
  if (!tryLink(breaking, own)) return false;
  try {
    if (await ownerHasEnded(path)) dropOwned(path);
    failurePoint('lock: broken');
    return true;
  } finally {
    rmSync(breaking, { force: true });
  }
}

/** A process that was killed while it broke a lock leaves this one. */
function dropIfStale(breaking: string): void {
  if ((ageOf(breaking) ?? 0) > BREAKING_MS) rmSync(breaking, { force: true });
  if (!ownerIsGone(breaking)) return;
  const aside = `${breaking}.${process.pid}.tmp`;
  try {
    renameSync(breaking, aside);
    // Another process may have dropped the stale one and made its own meanwhile.
    if (!ownerIsGone(aside)) linkSync(aside, breaking);
  } catch {
    // It is gone, or there is a newer one.
  } finally {
    rmSync(aside, { force: true });
  }
}
