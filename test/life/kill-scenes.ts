/** The commands to kill, and what the same command has to bring about when it is run again. */
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Facts, readRefs } from './facts.ts';
import type { KillPlace } from './kill-place.ts';
import { gitDirectory } from './life.ts';
import { AGT, GIT_MODE, ok, REAL_GIT } from './programs.ts';

export interface KillScene {
  readonly name: string;
  readonly command: (place: KillPlace) => readonly string[];
  /** The working directory; the repository unless named. */
  readonly cwd?: (place: KillPlace) => string;
  readonly prepare?: (place: KillPlace) => void;
  /** It runs until somebody ends it: it is ended when this is true. */
  readonly until?: (place: KillPlace) => boolean;
  /** Whether it creates something, so that a second run may find it. */
  readonly creates?: true;
  /** Whether the killed command had done its work, so that the second run may do it once more. */
  readonly wasDone?: (place: KillPlace) => boolean;
  /** The person's part in the second run. */
  readonly beforeAgain?: (place: KillPlace) => void;
  /** Throws unless the second run did its work. */
  readonly check: (place: KillPlace, wasDone: boolean) => void;
}

const agt =
  (...args: string[]) =>
  () => [AGT, ...args];

const toFirst = (place: KillPlace) => [AGT, 'session', 'restore', 's1', '--to', place.first()];

export const KILL_SCENES: readonly KillScene[] = [
  { name: 'autocommit', command: agt('autocommit', '--session-id', 's1'), check: isCaptured },
  { name: 'autocommit --all', command: agt('autocommit', '--all'), check: isCaptured },
  {
    name: 'session new',
    command: agt('session', 'new', '--id', 's2'),
    creates: true,
    check: (place) => {
      if (readFileSync(join(place.sandbox, '../../s2/sandbox/a'), 'utf8') !== 'from the user\n')
        throw new Error('s2 has no files');
      place.agt('autocommit', '--session-id', 's2');
    },
  },
  {
    name: 'session fork',
    command: agt('session', 'fork', '--from', 's1', '--id', 's2'),
    creates: true,
    check: (place) => {
      place.isAs(place.present, place.facts(join(place.sandbox, '../../s2/sandbox'), 'refs/heads/agt/s2'));
      place.agt('autocommit', '--session-id', 's2');
    },
  },
  { name: 'session restore', command: toFirst, check: (place) => place.isAs(facts(place, 0)) },
  {
    name: 'session restore of a removed session',
    prepare: (place) => place.agt('session', 'remove', 's1'),
    command: toFirst,
    check: (place) => place.isAs(facts(place, 0)),
  },
  {
    name: 'session undo',
    command: agt('session', 'undo', 's1'),
    wasDone: (place) => hasMoved(place, 'undo'),
    check: (place, wasDone) => place.isAs(facts(place, wasDone ? 1 : 2)),
  },
  {
    name: 'session redo',
    prepare: (place) => {
      place.agt('session', 'undo', 's1');
      place.agt('session', 'undo', 's1');
    },
    command: agt('session', 'redo', 's1'),
    wasDone: (place) => hasMoved(place, 'redo'),
    check: (place, wasDone) => place.isAs(wasDone ? place.present : facts(place, 2)),
  },
  {
    name: 'session remove',
    command: agt('session', 'remove', 's1'),
    check: (place) => {
      if (existsSync(place.sandbox)) throw new Error('the sandbox is still there');
      place.agt('session', 'restore', 's1', '--to', '@');
      place.isAs(place.present);
    },
  },
  {
    name: 'session export',
    command: agt('session', 'export', 's1', '--allow-dirty', '--as', 'exported'),
    check: (place) => {
      const exported = ok(REAL_GIT, ['rev-parse', 'exported'], join(place.top, 'remote.git')).trim();
      if (exported !== place.git('rev-parse', 'agt/s1')) throw new Error('the work branch was not exported');
    },
  },
  { name: 'gc', prepare: removeLongAgo, command: agt('gc', '--prune=now'), check: isForgotten },
  {
    name: 'gc --thin',
    prepare: removeLongAgo,
    command: agt('gc', '--thin', '--prune=now'),
    check: isForgotten,
  },
  {
    name: 'doctor --fix',
    prepare: leaveLitter,
    command: agt('doctor', '--fix'),
    check: (place) => {
      const { findings } = JSON.parse(place.agt('doctor', '--json')) as { findings: { level: string }[] };
      if (findings.some(({ level }) => level !== 'note')) throw new Error(JSON.stringify(findings));
    },
  },
  {
    name: 'clone',
    command: (place) => [AGT, 'clone', join(place.top, 'remote.git'), '--path', join(place.top, 'cloned')],
    creates: true,
    check: (place) => {
      if (!existsSync(join(place.top, 'cloned/remote/main/a'))) throw new Error('the clone has no files');
    },
  },
  {
    name: 'watch',
    command: agt('watch', 's1', '--debounce', '0.1'),
    until: (place) => hasNewest(place),
    check: isCaptured,
  },
  {
    name: 'git reset --hard',
    command: () => [GIT_MODE, 'reset', '-q', '--hard'],
    cwd: (place) => place.sandbox,
    // A git that is killed leaves its lock, and asks the person to remove it.
    beforeAgain: ({ sandbox }) => rmSync(join(gitDirectory(sandbox), 'index.lock'), { force: true }),
    check: isStored,
  },
  {
    name: 'git clean',
    command: () => [GIT_MODE, 'clean', '-fdxq'],
    cwd: (place) => place.sandbox,
    check: isStored,
  },
];

function facts({ snapshots }: KillPlace, index: number): Facts {
  return [...snapshots.values()][index] as Facts;
}

function hasNewest(place: KillPlace): boolean {
  const tip = place.tip();
  if (tip === undefined) return false;
  return ok(REAL_GIT, ['ls-tree', '-r', '--name-only', tip], place.repository).includes('sandbox/newest\n');
}

function isCaptured(place: KillPlace): void {
  if (!hasNewest(place)) throw new Error('the last snapshot does not have the newest file');
  place.isAs(place.present);
}

/** git has destroyed it on disk, and a snapshot has it. */
function isStored(place: KillPlace): void {
  const kept = ok(
    REAL_GIT,
    ['log', '--format=%H', '--first-parent', 'refs/agt/tip/s1', '--', 'sandbox/newest'],
    place.repository,
  );
  if (kept === '') throw new Error('no snapshot has the newest file');
}

/** The newest snapshot is that of the move, and no move is unfinished. */
function hasMoved(place: KillPlace, by: 'undo' | 'redo'): boolean {
  const { intent } = JSON.parse(readFileSync(join(place.repository, '.git/agt/sessions/s1.json'), 'utf8'));
  return (
    intent === undefined &&
    place.git('log', '-1', '--format=%B', place.tip() ?? '').includes(`Restored-By: ${by}`)
  );
}

function removeLongAgo(place: KillPlace): void {
  place.agt('session', 'fork', '--from', 's1', '--id', 's2');
  writeFileSync(join(place.sandbox, '../../s2/sandbox/of-s2'), 'of s2\n');
  place.agt('session', 'remove', 's2');
  const path = join(place.repository, '.git/agt/sessions/s2.json');
  const ended = new Date(Date.now() - 40 * 86_400_000).toISOString();
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), last_activity_at: ended }));
}

function isForgotten(place: KillPlace): void {
  const refs = readRefs(place.repository);
  if (refs.has('refs/agt/tip/s2')) throw new Error('s2 still has its snapshots');
  place.isAs(place.present);
}

/** Old leftovers of killed programs. */
function leaveLitter(place: KillPlace): void {
  const git = join(place.repository, '.git');
  const longAgo = Date.now() / 1000 - 7200;
  for (const name of [
    'objects/pack/tmp_pack_abcdef',
    'agt/sessions/s9.json.12345.tmp',
    'refs/heads/agtsessions/s1.lock',
  ]) {
    writeFileSync(join(git, name), '');
    utimesSync(join(git, name), longAgo, longAgo);
  }
}
