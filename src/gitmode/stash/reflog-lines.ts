/**
 * Takes lines out of the reflog of a ref, and sets the ref to the last entry that stays, as `git reflog delete --rewrite
 * --updateref` does. That names an entry by its number, which another git may have changed meanwhile. This names it by
 * its text, under the locks that git itself takes.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readRegularFile, readSmallFile } from '../../disk/read-file.ts';
import { attempt, errorCode } from '../../errors.ts';
import { SESSION_STASH, STASHES_OF_SESSIONS } from '../../filter/agent-refs.ts';
import type { GitDirectories } from '../../git/files/discover-repository.ts';
import { pause } from '../../process/wait.ts';
import type { GitAccess } from '../invocation.ts';

/** As long as git waits for the lock of a ref, in milliseconds. */
const WAIT_MS = 1000;
const POLL_MS = 20;

/** One byte per character; none if there is no log. */
export function reflogLines(commonDir: string, ref: string): string[] {
  return (
    attempt(() => readRegularFile(logOf(commonDir, ref)).toString('latin1').split('\n').filter(Boolean)) ?? []
  );
}

/** @throws Error if another git holds a lock for too long. */
export function removeReflogLines(commonDir: string, ref: string, removed: readonly string[]): void {
  const file = join(commonDir, ref);
  const log = logOf(commonDir, ref);
  withLock(file, (replaceRef) =>
    withLock(log, (replaceLog) => {
      const lines = reflogLines(commonDir, ref);
      const kept = linked(lines.filter((line) => !removed.includes(line)));
      const last = kept.at(-1);
      if (last === undefined) {
        for (const path of [log, file]) rmSync(path, { force: true });
        return;
      }
      replaceLog(kept.map((line) => `${line}\n`).join(''));
      if (removed.includes(lines.at(-1) ?? '')) replaceRef(`${newOf(last)}\n`);
    }),
  );
}

function logOf(commonDir: string, ref: string): string {
  return join(commonDir, 'logs', ref);
}

/** The old commit of each entry is the new one of the entry before. */
function linked(lines: readonly string[]): string[] {
  return lines.map((line, i) => {
    const before = lines[i - 1];
    const old = before === undefined ? '0'.repeat(newOf(line).length) : newOf(before);
    return `${old}${line.slice(line.indexOf(' '))}`;
  });
}

/** The new commit of an entry. */
export function newOf(line: string): string {
  return line.split(' ')[1] ?? '';
}

/** Under git's own lock of a file, which `replace` makes the file. */
function withLock(file: string, action: (replace: (text: string) => void) => void): void {
  const lock = `${file}.lock`;
  const end = Date.now() + WAIT_MS;
  let isOurs = false;
  while (!isOurs) {
    try {
      closeSync(openSync(lock, 'wx'));
      isOurs = true;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || Date.now() > end) throw error;
      pause(POLL_MS);
    }
  }
  try {
    action((text) => {
      writeFileSync(lock, text, 'latin1');
      const mode = statSync(file, { throwIfNoEntry: false })?.mode;
      if (mode !== undefined) chmodSync(lock, mode & 0o777);
      renameSync(lock, file);
      isOurs = false;
    });
  } finally {
    if (isOurs) rmSync(lock, { force: true });
  }
}

/**
 * The entries of a stash are lines of a reflog. git never expires those of `refs/stash`; of any other ref it expires them
 * after 30 or 90 days. So the repository's configuration names the stashes of sessions too.
 */
export function keepReflog({ gitDir, commonDir }: GitDirectories, ask: GitAccess['ask']): void {
  if (!existsSync(join(gitDir, 'logs', SESSION_STASH))) return;
  const config = join(commonDir, 'config');
  if (readSmallFile(config)?.includes(STASHES_OF_SESSIONS)) return;
  for (const key of ['reflogExpire', 'reflogExpireUnreachable'])
    ask(['config', '--file', config, `gc.${STASHES_OF_SESSIONS}.${key}`, 'never']);
}
