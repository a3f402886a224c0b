/**
 * Lines of src by room, now and in the last release: `npm run sizes`. Without a release, only now.
 */
import { execFileSync } from 'node:child_process';

const git = (...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });

function lastRelease(): string | undefined {
  try {
    return git('describe', '--tags', '--abbrev=0').trim();
  } catch {
    return undefined;
  }
}

/** `place`: a commit, or nothing for the files on disk that git knows. */
function linesByRoom(place: readonly string[]): Map<string, number> {
  const rooms = new Map<string, number>();
  const counted = git('grep', '-c', '', ...place, '--', 'src/**.ts', 'src/**.tsx', 'src/*.ts');
  for (const line of counted.trimEnd().split('\n')) {
    const [, path = '', count = '0'] = /(src\/.*):(\d+)$/.exec(line) ?? [];
    const room = path.split('/').length > 2 ? (path.split('/')[1] ?? '') : '(src)';
    rooms.set(room, (rooms.get(room) ?? 0) + Number(count));
  }
  return rooms;
}

const release = lastRelease();
const now = linesByRoom([]);
const before = release === undefined ? undefined : linesByRoom([release]);
const total = (rooms: ReadonlyMap<string, number>) =>
  [...rooms.values()].reduce((sum, lines) => sum + lines, 0);
const row = (name: string, lines: number, earlier: number | undefined) =>
  `${name.padEnd(14)}${String(lines).padStart(8)}${earlier === undefined ? '' : String(lines - earlier).padStart(8)}\n`;

process.stdout.write(release === undefined ? '' : `since ${release}:\n`);
for (const [room, lines] of [...now].sort(([, a], [, b]) => b - a))
  process.stdout.write(row(room, lines, before && (before.get(room) ?? 0)));
process.stdout.write(row('all', total(now), before && total(before)));
