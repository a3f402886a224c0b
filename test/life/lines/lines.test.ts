/**
 * Lives of lines: two agents and a person write, rename, copy and move in sessions, and people on the branch. After every
 * way home, and after every way to rewrite the branch, agt blame has to say who put each line there. The undo of one turn
 * has to leave every line of others as it is.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeSession, sessionIn } from '../../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run } from '../../harness/world.ts';
import { Random } from '../random.ts';
import { seedsOfLives } from '../seeds.ts';
import { Checks, sums } from './check.ts';
import { Crew } from './crew.ts';
import { type Author, type Files, PERSON, Pen, type Place, textOf } from './pen.ts';
import { personCommits, rewrite } from './rewrites.ts';
import { undoOneThing } from './undo.ts';

const STEPS = Number(process.env['AGT_TEST_STEPS_OF_LIFE'] ?? 14);

test.each(seedsOfLives(4000))('life %i of lines', { timeout: 600_000 }, (seed) => {
  const pen = new Pen(new Random(seed));
  const checks = new Checks(pen);
  live(pen, checks);
  checks.end(seed);
});

/** The same files in every life: the session is a copy of the first one. */
function begin(pen: Pen) {
  const first = new Pen(new Random(1));
  const start: Files = new Map(['a', 'b', 'c'].map((name) => [name, first.fresh(PERSON, 30, 12)]));
  for (const [name, lines] of start) pen.know(name, lines);
  return {
    start,
    session: makeSession(Object.fromEntries([...start].map(([name, lines]) => [name, textOf(lines)]))),
  };
}

function live(pen: Pen, checks: Checks) {
  const { random } = pen;
  const { start, session } = begin(pen);
  const { repository, sandbox, id } = session;
  const crew = new Crew(pen, id, { folder: sandbox, files: new Map(start) });
  const main: Place = { folder: repository, files: new Map(start), settled: new Set() };
  for (let step = 0; step < STEPS; step++) crew.act();
  checks.check(sandbox, crew.place.files, 'in the sandbox');
  checks.checkWithoutSpace(sandbox, crew.place.files, random.pick([...crew.place.files.keys()]));
  for (let i = 0; i < 2; i++) undoOneThing(crew.place, pen, crew.turns);
  checks.check(sandbox, crew.place.files, 'after undos, and their undos', [
    random.pick([...crew.place.files.keys()]),
  ]);
  if (random.chance(0.4)) {
    crew.commit();
    checks.check(sandbox, crew.place.files, 'committed in the sandbox', [
      random.pick([...crew.place.files.keys()]),
    ]);
  }
  const words = accept(crew, main, start);
  if (words === undefined) return;
  checks.check(repository, main.files, `accepted ${words.join(' ')}`);
  if (words.includes('--keep')) secondRound(pen, checks, crew, main);
  for (let step = 0; step < 3; step++) {
    const what = rewrite(pen, main);
    const names = [...main.files.keys()];
    checks.check(
      repository,
      main.files,
      `rewritten: ${what}`,
      step < 2 && names.length > 0 ? random.some(names, 2) : names,
    );
  }
}

/** Returns the options; undefined if there was nothing to accept: then the life ends. */
function accept(crew: Crew, main: Place, start: Files): string[] | undefined {
  const { random } = crew.pen;
  const names = [...new Set([...start.keys(), ...crew.place.files.keys()])];
  const some = random.some(names, 2);
  const all = ['--untracked=all'];
  const ways = [
    all,
    [...all, '--keep'],
    [...all, '--keep'],
    ['--keep-commits'],
    ['--committed-only'],
    [...all, ...some.flatMap((name) => ['--exclude', name])],
    [...all, ...some.flatMap((name) => ['--include', name])],
    (crew.calls.length > 0 ? random.some(crew.calls, 4) : ['HEAD']).flatMap((one) => ['--commits', one]),
  ];
  const isRefused = (way: readonly string[]) => {
    const { exitCode, stderr } = agt(main.folder, 'accept', crew.id, ...way);
    if (exitCode !== 0) expect(stderr).toMatch(/nothing|no commits|uncommitted|clude|conflict|changed no/);
    return exitCode !== 0;
  };
  let words = random.pick(ways);
  if (words[0] === '--keep-commits') crew.commit();
  if (isRefused(words)) {
    words = all;
    if (isRefused(all)) return undefined;
  }
  const isTaken = (name: string) =>
    words.includes('--exclude') ? !some.includes(name) : some.includes(name);
  const isPart = words.includes('--exclude') || words.includes('--include');
  const { files } = crew.place;
  if (words[0] === '--commits') main.files = crew.pen.read(main.folder);
  else if (words[0] === '--committed-only') main.files = new Map(crew.committed);
  else if (!isPart) main.files = new Map(files);
  else
    main.files = new Map(
      names.flatMap((name) => {
        const lines = (isTaken(name) ? files : start).get(name);
        return lines === undefined ? [] : [[name, lines]];
      }),
    );
  return words;
}

/** The session goes on; a person or another session changes the branch; a sync, with conflicts, and home again. */
function secondRound(pen: Pen, checks: Checks, crew: Crew, main: Place) {
  const { random } = pen;
  const { folder: repository } = main;
  const { folder: sandbox } = crew.place;
  for (let step = 0; step < STEPS / 2; step++) crew.act();
  if (random.chance(0.4)) anotherSession(pen, main);
  else personCommits(pen, main);
  checks.check(repository, main.files, 'changed on the branch');
  if (random.chance(0.5)) crew.commit();
  const rebase = random.chance(0.3) ? ['--rebase'] : [];
  const synced = agt(repository, 'sync', crew.id, ...rebase);
  const isConflict = synced.exitCode !== 0 && git(sandbox, 'ls-files', '--unmerged') !== '';
  const isDone = synced.exitCode === 0 || (isConflict && solve(pen, crew, rebase.length > 0));
  if (!isDone) {
    agtOk(repository, 'reject', crew.id);
    return;
  }
  crew.place.files = pen.read(sandbox);
  checks.check(sandbox, crew.place.files, `after a sync${isConflict ? ' with conflicts' : ''}`);
  for (let step = 0; step < 2; step++) crew.act();
  agtOk(repository, 'accept', crew.id, '--untracked=all');
  main.files = new Map(crew.place.files);
  checks.check(repository, main.files, 'accepted again, after a sync');
}

function anotherSession(pen: Pen, main: Place) {
  const { sandbox, id } = sessionIn(main.folder, 's2');
  const crew = new Crew(pen, id, { folder: sandbox, files: new Map(main.files) });
  for (let step = 0; step < 5; step++) crew.act();
  if (agt(main.folder, 'accept', id, '--untracked=all').exitCode === 0)
    main.files = new Map(crew.place.files);
  else agtOk(main.folder, 'reject', id);
}

/** An agent or a person takes one side or both of each conflict, and adds a line. False: a conflict of another kind. */
function solve(pen: Pen, crew: Crew, isRebase: boolean): boolean {
  const { folder } = crew.place;
  const one = (author: Author): boolean => {
    const names = git(folder, 'diff', '--name-only', '--diff-filter=U')
      .split('\n')
      .filter((name) => name !== '');
    for (const name of names) {
      const path = join(folder, name);
      const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
      // After two renames git marks conflicts within conflicts.
      if (!text.includes('<<<<<<< ') || text.includes('<<<<<<<<')) return false;
      const solved = text.replace(
        /^<<<<<<< .*\n([\s\S]*?)^=======\n([\s\S]*?)^>>>>>>> .*\n/gm,
        (_, ours: string, theirs: string) => {
          // Of a line that is in both, nobody could know which one is whose.
          const inOurs = new Set(ours.split('\n'));
          const isApart = theirs.split('\n').every((line) => line === '' || !inOurs.has(line));
          const side = pen.random.pick([ours, theirs, ...(isApart ? [ours + theirs] : [])]);
          const [own] = pen.fresh(author, 1);
          if (own === undefined) return side;
          pen.know(name, [own]);
          return `${side}${own.text}\n`;
        },
      );
      pen.put(crew.place, name, pen.lines(name, solved));
    }
    git(folder, 'add', '-A');
    const go = isRebase ? ['rebase', '--continue'] : ['commit', '-q', '--no-edit'];
    const outcome = run(REAL_GIT, go, { cwd: folder, env: { GIT_EDITOR: 'true' } });
    return (
      outcome.exitCode === 0 || (isRebase && git(folder, 'ls-files', '--unmerged') !== '' && one(author))
    );
  };
  // In the middle of a rebase files lack the lines of later commits, so no call may begin there.
  if (isRebase || pen.random.chance(0.5)) return one(PERSON);
  let isSolved = false;
  crew.byAgent((author) => {
    isSolved = one(author);
  });
  return isSolved;
}

afterAll(() => {
  const known = sums.lines - sums.shared;
  console.log(`lines of lives: ${JSON.stringify(sums)}`);
  expect(sums.unknown / Math.max(known, 1)).toBeLessThanOrEqual(0.005);
});
