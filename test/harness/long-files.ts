/**
 * Test files that last longer than three seconds, the longest first, stand in long-files.txt. With AGT_TEST_ROTATE, as
 * scripts/test sets it, a run has a seventh of them, and in seven days all; those of a room that has uncommitted changes
 * run every time.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAYS, isDeep, today } from './today.ts';

const root = join(import.meta.dirname, '..', '..');

export const filesRotate = !isDeep && (process.env['AGT_TEST_ROTATE'] ?? '') !== '';

export function longFiles(): string[] {
  const names = readFileSync(join(import.meta.dirname, 'long-files.txt'), 'utf8')
    .trimEnd()
    .split('\n');
  return names.map((name) => `test/${name}.test.ts`);
}

/** Every other week of the list backwards: then each day lasts about as long. */
function dayOf(place: number): number {
  const [week, day] = [Math.floor(place / DAYS), place % DAYS];
  return week % 2 === 0 ? day : DAYS - 1 - day;
}

export function filesOfToday(changedRooms = roomsAtWork()): string[] {
  const left = new Set(longFiles().filter((_, place) => dayOf(place) !== today() % DAYS));
  const room = (path: string) => path.split('/')[1] ?? '';
  return globSync('test/**/*.test.ts', { cwd: root }).filter(
    (path) => !left.has(path) || changedRooms.has(room(path)),
  );
}

/** The second names of changed paths: src/landing and test/landing are one room. */
function roomsAtWork(): Set<string> {
  const words = ['-C', root, 'status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'];
  const entries = execFileSync('git', words, { encoding: 'utf8' }).split('\0');
  return new Set(entries.map((entry) => entry.slice(3).split('/')[1] ?? ''));
}
